"""honeyhive 1.7.0 exports events while the service cannot answer for a time.

Run by test/clients/honeyhive-retries.test.ts: honeyhive_retries.py URL API_KEY SESSION_ID
"""

import json
import sys

from honeyhive import HoneyHive
from honeyhive.models import EventFilter

url, api_key, session_id = sys.argv[1:]
client = HoneyHive(api_key=api_key, server_url=url)
of_session = EventFilter(field="session_id", operator="is", value=session_id, type="string")
exported = client.events.export(filters=[of_session])
print(json.dumps({"total": exported.total_events, "events": len(exported.events)}))
