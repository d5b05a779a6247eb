"""What tests stand on: a real Postgres, real servers, and the plain generated stubs."""
