async def trace(report): pass
