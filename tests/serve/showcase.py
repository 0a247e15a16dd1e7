"""Models that have something to show."""

import json
import random

import httpx

NDJSON = {"Content-Type": "application/x-ndjson"}


def post(address, path, *content):
    """Send one JSON document, or many, one a line."""
    if len(content) == 1:
        answer = httpx.post(f"{address}v1/models/{path}", json=content[0], timeout=None)
    else:
        lines = "".join(json.dumps(each) + "\n" for each in content)
        answer = httpx.post(f"{address}v1/models/{path}", content=lines, headers=NDJSON, timeout=None)
    return [json.loads(line) for line in answer.raise_for_status().text.splitlines()]


def create(address, name, **settings):
    httpx.put(f"{address}v1/models/{name}", json=settings, timeout=None).raise_for_status()


def mails(draw, number, drifted=False):
    """Mails that are clearly to be read now or later. Then the world changes: customers matter, and the boss less."""
    while number:
        sender = draw.choice(["boss", "customer", "newsletter", "colleague", "robot"])
        x = {"from": sender, "links": draw.randrange(12), "pages": draw.randrange(1, 5), "replies": draw.randrange(4)}
        x |= {word: 1 for word in ("invoice", "urgent", "lunch", "unsubscribe") if draw.random() < 0.2}
        urgent = {"boss": -6.0 if drifted else 4.0, "customer": 7.0 if drifted else -2.0, "newsletter": -4.0}
        score = urgent.get(sender, -1.0) + 4 * x.get("urgent", 0) - 0.6 * x["links"] + x["replies"] + 1.2 * x["pages"]
        score += 2.5 * x.get("invoice", 0) - 2.0 * x.get("lunch", 0)
        if abs(score) > 1:
            number -= 1
            yield {"x": x, "y": "now" if score > 0 else "later"}


def desks(draw, number):
    """Requests that go to one of four desks."""
    words = {"billing": ["invoice", "refund", "price"], "login": ["password", "locked", "mail"],
             "shipping": ["parcel", "late", "address"], "other": ["hello", "thanks", "job"]}  # fmt: skip
    for _ in range(number):
        desk = draw.choice(list(words))
        said = set(draw.choices(words[desk], k=2)) | {draw.choice(words[draw.choice(list(words))])}
        yield {"x": dict.fromkeys(sorted(said), 1), "y": desk}


def fill(address):
    """Models at work: one with drift and labels that are awaited, and smaller ones."""
    draw = random.Random(7)
    create(address, "mails", classes=["later", "now"])
    post(address, "mails/learn", *mails(draw, 2000))
    post(address, "mails/learn", *mails(draw, 1200, drifted=True))
    served_later = list(mails(draw, 120, drifted=True))
    said = post(address, "mails/predict", *({"x": each["x"], "remember": True} for each in served_later))
    labels = [{"id": one["id"], "y": each["y"]} for one, each in zip(said, served_later, strict=True)]
    post(address, "mails/reveal", *labels[:100])
    create(address, "desks")
    post(address, "desks/learn", *desks(draw, 900))
    create(address, "lamps")
    post(address, "lamps/learn", *({"x": {"hue": draw.random(), "lux": draw.random()}, "y": "on"} for _ in range(5)))
    create(address, "not-used-yet", classes=[0, 1])
