"""Conversations in files: read one at a time, made into batches that an append takes, and written again."""
