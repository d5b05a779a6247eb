package dev.lockstitch.errors;

/** The token's role may not do or claim this. */
public final class RoleNotAllowedException extends PermissionDeniedException {

  private static final long serialVersionUID = 1;

  /** A failure of this reason. */
  public RoleNotAllowedException(String message, Failure failure) {
    super(message, failure);
  }
}
