"""Tests of the panel, the card, and the commands behind them."""
