package dev.lockstitch.errors;

import java.io.Serializable;

/**
 * A field that was refused.
 *
 * @param field where it lies, such as {@code messages[1].parts[0].json}
 * @param description what is wrong with it
 */
public record FieldViolation(String field, String description) implements Serializable {}
