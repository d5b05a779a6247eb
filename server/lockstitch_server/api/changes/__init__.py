"""Requests that change a session, turned into changes and their content, a topic a module."""
