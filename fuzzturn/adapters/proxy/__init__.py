"""Proxy: a recording endpoint between any agent and its model: contexts, tool calls, compactions, record and replay."""

from __future__ import annotations

from fuzzturn.adapters.proxy.agent import wrap
from fuzzturn.adapters.proxy.caller import Caller
from fuzzturn.adapters.proxy.server import ProxyServer
from fuzzturn.adapters.proxy.tap import Exchange, Seen, Tap

__all__ = ["Caller", "Exchange", "ProxyServer", "Seen", "Tap", "wrap"]
