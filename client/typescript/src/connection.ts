/** An HTTP/2 connection to a server, replaced where its network went dead without a word. */

import { connect } from "node:net";

import type { Transport } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";

import type { Endpoint } from "./endpoint.js";

/**
 * A connection that has been silent for so long while a call waits is asked for a sign of life, and made anew where none comes: with
 * a second left of the ten that a call has where nobody says. A server of ours lets callers ask every 5 s.
 */
const SILENCE_MS = 5_500;
const SIGN_OF_LIFE_MS = 3_000;

/** The transport of the moment; whoever found it dead says so with {@link Connection.renew}. */
export class Connection {
  /** gRPC over the connection of the moment. */
  transport: Transport;
  private manager: Http2SessionManager;

  constructor(private readonly endpoint: Endpoint) {
    [this.manager, this.transport] = opened(endpoint);
  }

  /** Replaces the connection, unless somebody did already. What is in flight on it ends as cut. */
  renew(suspect: Transport): void {
    if (this.transport === suspect) {
      const dead = this.manager;
      [this.manager, this.transport] = opened(this.endpoint);
      dead.abort();
    }
  }

  /** Ends the connection and what is in flight on it. */
  close(): void {
    this.manager.abort();
  }
}

function opened(endpoint: Endpoint): [Http2SessionManager, Transport] {
  const { baseUrl, socketPath } = endpoint;
  const options = socketPath === undefined ? {} : { createConnection: () => connect(socketPath) };
  const pings = { pingIntervalMs: SILENCE_MS, pingTimeoutMs: SIGN_OF_LIFE_MS };
  const manager = new Http2SessionManager(baseUrl, pings, { ...endpoint.tls, ...options });
  return [manager, createGrpcTransport({ baseUrl, sessionManager: manager })];
}
