"""What the debugger's API takes and gives, as types: the OpenAPI document is made of them."""
