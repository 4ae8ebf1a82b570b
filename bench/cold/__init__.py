"""Invented databases whose questions are asked cold."""
