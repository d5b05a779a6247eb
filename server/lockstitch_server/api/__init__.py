"""The only place with grpc and generated messages: a call is converted, passed on, and its answer converted."""
