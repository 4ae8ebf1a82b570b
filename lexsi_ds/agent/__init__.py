"""The agent: events, decisions, planners, loop, context, tools."""
