"""Stress: how blind a judge is, and whether the protected block helps it: measured on turns whose truth is known."""
