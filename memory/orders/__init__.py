"""Orders to a later model that stand in a text."""

from memory.orders.order import holds_order

__all__ = ["holds_order"]
