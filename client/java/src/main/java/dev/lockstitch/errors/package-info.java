/** What a call can fail with. */
package dev.lockstitch.errors;
