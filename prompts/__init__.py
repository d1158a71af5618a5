"""The words the model reads."""
