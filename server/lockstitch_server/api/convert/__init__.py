"""Between generated messages and the model, a resource a module."""
