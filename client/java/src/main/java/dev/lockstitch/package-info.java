/**
 * The Java client of lockstitch, a durable session store for AI agents. It begins with {@link
 * dev.lockstitch.Client}; {@link dev.lockstitch.v1} has the wire's own messages and services,
 * {@link dev.lockstitch.errors} what a call can fail with.
 */
package dev.lockstitch;
