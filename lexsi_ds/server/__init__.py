"""The doors for programs: the chat API over SSE, and MCP over stdio and HTTP.

They translate and check who asks; what may be done is decided in the services. Must never: hold a rule of the product, or show
a traceback.
"""
