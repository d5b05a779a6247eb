FROM python:3.11-slim AS build
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.11-slim
# An account of its own, so that files it writes belong to nobody else.
RUN useradd --system --uid 10001 --create-home --home-dir /var/lib/lockstitch lockstitch
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir "$(ls /wheels/lockstitch-*.whl)[server]" && rm -r /wheels
USER lockstitch
ENV LOCKSTITCH_DATA_DIR=/var/lib/lockstitch/data \
    LOCKSTITCH_LISTEN=0.0.0.0:50051
VOLUME /var/lib/lockstitch
EXPOSE 50051
ENTRYPOINT ["lockstitch-server"]
CMD ["serve"]
