"""The rules, a topic a module; what must hold under concurrency is in the SQL that holds the session's lock."""
