"""The database schema of lockstitch: plain SQL files, and the runner that applies them."""
