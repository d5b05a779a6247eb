"""Subscriptions: one reader of the log a session and process, and any number of streams behind it."""
