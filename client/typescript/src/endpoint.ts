/** Where a server is, and how to speak to it. */

import type { SecureClientSessionOptions } from "node:http2";
import { isIP } from "node:net";

import { refused } from "./wire.js";

/**
 * How to speak to a server: undefined is plain text where the target can't leave this machine, else TLS with Node's root
 * certificates; true is TLS anyway; false is plain text by name; options are TLS with your own roots (`ca`) or certificate
 * (`cert` and `key`, for mutual TLS).
 */
export type Tls = boolean | Pick<SecureClientSessionOptions, "ca" | "cert" | "key" | "passphrase" | "servername"> | undefined;

/** A target, taken apart. */
export interface Endpoint {
  /** `http://…` or `https://…`, which Node's HTTP/2 connects to. */
  readonly baseUrl: string;
  /** The path of the Unix socket that is connected to instead; undefined for TCP. */
  readonly socketPath: string | undefined;
  readonly tls: Exclude<Tls, boolean | undefined> | undefined;
}

/** The endpoint of a target such as `127.0.0.1:50051`, `dns:///store.example.org:443`, `unix:/run/lockstitch.sock`. */
export function endpointOf(target: string, tls: Tls): Endpoint {
  const isSecure = tls === undefined ? !isLocal(target) : tls !== false;
  const scheme = isSecure ? "https" : "http";
  const options = typeof tls === "object" ? tls : undefined;
  if (target.startsWith("unix:")) {
    return { baseUrl: `${scheme}://localhost`, socketPath: target.slice("unix:".length).replace(/^\/\/(?=\/)/, ""), tls: options };
  }
  const authority = withoutScheme(target);
  const baseUrl = `${scheme}://${authority}`;
  if (authority === "" || !URL.canParse(baseUrl) || new URL(baseUrl).pathname !== "/") {
    throw refused("target", `is not HOST:PORT, dns:///HOST:PORT or unix:PATH: ${JSON.stringify(target)}`);
  }
  return { baseUrl, socketPath: undefined, tls: options };
}

/** Whether a target can't leave this machine: a loopback address, `localhost` or a Unix socket. */
export function isLocal(target: string): boolean {
  if (target.startsWith("unix:")) {
    return true;
  }
  const authority = withoutScheme(target);
  const host = authority.startsWith("[") ? authority.slice(1).split("]")[0]! : authority.split(":")[0]!;
  if (isIP(host) === 4) {
    return host.startsWith("127.");
  }
  return isIP(host) === 6 ? new URL(`http://[${host}]`).hostname === "[::1]" : host.toLowerCase() === "localhost";
}

function withoutScheme(target: string): string {
  const scheme = /^(dns|ipv4|ipv6):(?:\/\/[^/]*\/)?/.exec(target);
  return scheme === null ? target : target.slice(scheme[0].length);
}
