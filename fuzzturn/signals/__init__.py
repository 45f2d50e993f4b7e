"""Signals: four instruments with four owners. None imports another; nothing here blends them."""
