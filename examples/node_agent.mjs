// Node agent: a travel agent in JavaScript that fuzzturn speaks to on stdin and stdout (docs/wire-protocol.md).
//
//     fuzzturn fuzz scenarios/orbit/lisbon_offsite.yaml --agent process \
//         --agent-option "command=node examples/node_agent.mjs" --agent-option snapshots=yes
//
// SIMULATED: `decide` stands where a model would be, a pure function of the messages of one call. Between calls there
// is the message list and nothing else, so what this agent forgets, its own compaction has taken. Where the harness
// names a base URL, the endpoint there is asked instead of `decide`.

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const MODEL_CALLS_MAX = 12;
const SUMMARY_HEADING = "[Summary of the conversation so far]";
// compaction: summary or none. threshold: tokens above which older messages are summarised. keep: newest that stay.
const DEFAULTS = { compaction: "summary", threshold: "900", keep: "4" };

// ---- The session: one answer to each message of the harness

export class Session {
  constructor(open) {
    const unknown = Object.keys(open.options).filter((name) => !(name in DEFAULTS));
    if (unknown.length) throw new Error(`no option ${unknown[0]}; known: ${Object.keys(DEFAULTS).join(", ")}`);
    this.options = { ...DEFAULTS, ...open.options };
    const { compaction, threshold, keep } = this.options;
    if (!["summary", "none"].includes(compaction)) throw new Error("compaction is summary or none");
    const whole = [threshold, keep].every((text) => /^[1-9]\d*$/.test(text));
    if (!whole) throw new Error("threshold and keep are whole numbers from 1 up");
    this.system = open.system ? [{ role: "system", content: open.system }] : [];
    this.tools = open.tools.map(({ name, description, schema }) => ({
      type: "function",
      function: { name, description, parameters: schema },
    }));
    this.baseUrl = open.base_url;
    this.messages = [];
    this.made = 0; // ids given out
  }

  get ready() {
    const { compaction, threshold, keep } = this.options;
    const limits = compaction === "none" ? "" : `, threshold=${threshold}, keep=${keep}`;
    const by = this.baseUrl ? "model of an endpoint" : "simulated, by rule";
    const identity = `node travel agent 1 (${by}; compaction=${compaction}${limits})`;
    return { type: "ready", identity, snapshots: true };
  }

  answer(message) {
    switch (message.type) {
      case "say":
        this.events = [];
        this.messages.push({ role: "user", content: message.message });
        return this.next();
      case "results":
        this.take(message.results);
        return this.next();
      case "snapshot":
        return { type: "snapshot", state: { messages: this.messages, made: this.made } };
      case "restore":
        ({ messages: this.messages, made: this.made } = message.state);
        return this.ready;
      default:
        throw new Error(`no message of type ${message.type} is known`);
    }
  }

  // One model call: either it asks for tools, or it ends the turn.
  async next() {
    this.compact();
    const context = [...this.system, ...this.messages];
    const { text, calls, usage } = await (this.baseUrl ? this.ask(context) : decide(context));
    this.events.push({ type: "model_call", context, usage });
    if (!calls?.length) return this.end(text);
    if (this.events.filter((event) => event.type === "model_call").length >= MODEL_CALLS_MAX) {
      return this.end("I could not finish that in one go; please ask again.");
    }
    this.pending = calls.map((call) => ({ id: call.id ?? `c${++this.made}`, name: call.name, args: call.args }));
    return { type: "call", calls: this.pending };
  }

  end(text) {
    this.messages.push({ role: "assistant", content: text });
    return { type: "reply", events: [...this.events, { type: "message", text }] };
  }

  // A tool that failed is news for the model, not the end. Telling of a call shows the harness where it belongs.
  take(results) {
    const asked = this.pending.map(({ id, name, args }) => ({
      id,
      type: "function",
      function: { name, arguments: JSON.stringify(args) },
    }));
    this.messages.push({ role: "assistant", content: "", tool_calls: asked });
    for (const { id, result, error } of results) {
      const content = JSON.stringify(error === undefined ? result : { error });
      this.messages.push({ role: "tool", tool_call_id: id, content });
      this.events.push({ type: "tool_call", ...this.pending.find((call) => call.id === id), result, error });
    }
  }

  compact() {
    const before = tokens(this.messages);
    if (this.options.compaction === "none" || before <= Number(this.options.threshold)) return;
    const cut = cutAt(this.messages, Number(this.options.keep));
    const dropped = this.messages.slice(0, cut);
    if (dropped.every(isSummary)) return;
    const summary = summarise(dropped);
    const kept = [{ role: "user", content: `${SUMMARY_HEADING}\n${summary}` }, ...this.messages.slice(cut)];
    if (tokens(kept) >= before) return;
    this.messages = kept;
    const sizes = { before, after: tokens(kept) };
    this.events.push({ type: "compaction", policy: "summary", ...sizes, dropped, summary, summariser_input: dropped });
  }

  async ask(messages) {
    const response = await fetch(`${this.baseUrl.replace(/\/$/, "")}/chat/completions`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Authorization: `Bearer ${process.env.OPENAI_API_KEY ?? "fuzzturn"}`,
      },
      body: JSON.stringify({ model: "scripted", stream: false, messages, tools: this.tools }),
    });
    if (!response.ok) throw new Error(`the endpoint answered ${response.status}: ${await response.text()}`);
    const { choices, usage } = await response.json();
    const { content, tool_calls } = choices[0].message;
    const calls = (tool_calls ?? []).map((call) => ({
      id: call.id,
      name: call.function.name,
      args: JSON.parse(call.function.arguments || "{}"),
    }));
    return { text: content ?? "", calls, usage };
  }
}

// ---- Compaction: what was asked and done is kept, remarks are lost, whatever they are about

const isSummary = (message) => message.role === "user" && message.content.startsWith(SUMMARY_HEADING);
const sentences = (text) => text.split(/(?<=[.!?])\s+|\n+/).filter(Boolean);
const isQuestion = (sentence) => sentence.endsWith("?");
const isRequest = (sentence) => /^(?:please|can you|could you)\b/i.test(sentence) || isQuestion(sentence);

// fuzzturn's rule: a token is four characters, a message four tokens more.
function tokens(messages) {
  const size = ({ content, tool_calls }) => content.length + (tool_calls ? JSON.stringify(tool_calls).length : 0);
  return messages.reduce((sum, message) => sum + Math.ceil(size(message) / 4) + 4, 0);
}

// Where the kept part begins: never after the newest user message, never between a call and its result.
function cutAt(messages, keep) {
  const newest = messages.findLastIndex((message) => message.role === "user");
  let cut = Math.min(Math.max(messages.length - keep, 0), newest);
  while (cut > 0 && messages[cut].role === "tool") cut -= 1;
  return cut;
}

function summarise(dropped) {
  const lines = new Set();
  for (const message of dropped) {
    for (const line of linesOf(message, dropped)) {
      lines.delete(line); // said again: only the later one counts
      lines.add(line);
    }
  }
  return [...lines].join("\n") || "(nothing was asked or done)";
}

function linesOf(message, all) {
  if (isSummary(message)) return message.content.split("\n").slice(1);
  if (message.role === "user") return sentences(message.content).filter(isRequest).map((said) => `Asked: ${said}`);
  return stepsOf(message, all).map(({ name, args, result }) => {
    const rows = Object.values(result).find(Array.isArray);
    return `Done: ${name} ${JSON.stringify(args)} -> ${JSON.stringify(rows ? `${rows.length} found` : result)}`;
  });
}

// ---- Reading one call's messages

function stepsOf(message, all) {
  if (isSummary(message)) {
    const done = [...message.content.matchAll(/^Done: (\w+) (\{.*\}) -> (.*)$/gm)];
    return done.map(([, name, args, result]) => ({ name, args: JSON.parse(args), result: JSON.parse(result) }));
  }
  return (message.tool_calls ?? []).flatMap((call) => {
    const answer = all.find((other) => other.tool_call_id === call.id);
    const args = JSON.parse(call.function.arguments);
    return answer ? [{ name: call.function.name, args, result: JSON.parse(answer.content) }] : [];
  });
}

function look(messages) {
  const newest = messages.findLastIndex((message) => message.role === "user" && !isSummary(message));
  const before = messages.slice(0, newest);
  const told = messages.filter(({ role }) => ["system", "user"].includes(role)).map(({ content }) => content);
  const asked = before.at(-1)?.role === "assistant" && isQuestion(before.at(-1).content); // then this is the answer
  const first = asked ? before.findLast((message) => message.role === "user").content : "";
  const steps = messages.slice(newest + 1).flatMap((message) => stepsOf(message, messages));
  return {
    said: messages[newest].content,
    wants: wants(sentences(`${first}\n${messages[newest].content}`).filter(isRequest).join("\n")),
    trip: trip(told.join("\n")),
    limit: limit(told.flatMap(sentences)),
    steps,
    all: [...before.flatMap((message) => stepsOf(message, messages)), ...steps],
  };
}

function wants(requests) {
  return {
    flights: /\b(?:find|check|search)\b.*\b(?:flights|fares)\b/i.test(requests),
    hotel: /\b(?:find|search|hold)\b.*\bhotel\b/i.test(requests),
    hold: /\bhold\b.*\bflights\b/i.test(requests),
    confirm: /\b(?:confirm|book)\b/i.test(requests),
    traveller: /\badd ([A-Z][\w-]+ [A-Z][\w-]+)/.exec(requests)?.[1],
    code: /\bexpense code\b/i.test(requests),
    question: sentences(requests).findLast(isQuestion),
  };
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

function trip(told) {
  const day = (cue) => {
    const found = [...told.matchAll(new RegExp(`\\b${cue} on (\\d{1,2}) ([A-Z][a-z]{2})[a-z]* (\\d{4})`, "g"))].at(-1);
    const month = found && String(MONTHS.indexOf(found[2]) + 1).padStart(2, "0");
    return found && `${found[3]}-${month}-${found[1].padStart(2, "0")}`;
  };
  const city = [...told.matchAll(/\b[Tt]o ([A-Z][a-z]+), out on\b/g)].at(-1)?.[1];
  return { city, outbound: day("out"), return: day("back") };
}

// The highest fare of a leg that is named last. Assistant and tools lay nothing down.
function limit(told) {
  const named = told.filter((said) => /\b(?:more than|most|above|below|over|under|limit|ceiling)\b/i.test(said));
  return Number(named.map((said) => /\bEUR (\d+)/.exec(said)?.[1]).filter(Boolean).at(-1) ?? Infinity);
}

// ---- Deciding: the next action, from the messages of one call alone

const DIRECTIONS = ["outbound", "return"];
const did = (seen, name, args = {}) =>
  seen.steps.findLast(
    (step) => step.name === name && Object.entries(args).every(([key, value]) => step.args[key] === value),
  );
const worked = (step) => step !== undefined && step.result?.error === undefined;

export function decide(messages) {
  const seen = look(messages);
  for (const step of [searchFlights, hotelFirst, holdFlights, single, confirm]) {
    const action = step(seen);
    if (action) return action;
  }
  return { text: report(seen) };
}

function searchFlights(seen) {
  if (!seen.wants.flights) return null;
  const missing = DIRECTIONS.filter((direction) => !did(seen, "search_flights", { direction }));
  if (missing.some((direction) => !seen.trip.city || !seen.trip[direction])) {
    return { text: "Which city is the trip to, and on which dates?" };
  }
  const query = (direction) => ({ destination: seen.trip.city, date: seen.trip[direction], direction });
  return called(missing.map((direction) => ["search_flights", query(direction)]));
}

function hotelFirst(seen) {
  if (!seen.wants.hotel || !seen.trip.city) return null;
  const found = did(seen, "search_hotels");
  if (!found) return called([["search_hotels", { city: seen.trip.city }]]);
  const cheapest = [...(found.result.hotels ?? [])].sort((a, b) => a.night_eur - b.night_eur)[0];
  if (!cheapest || did(seen, "hold_booking")) return null;
  return called([["hold_booking", { kind: "hotel", hotel: cheapest.hotel }]]);
}

// Fewest stops, then the lowest fare, of what the limit leaves.
function best(seen, direction) {
  const rows = did(seen, "search_flights", { direction })?.result.flights ?? [];
  const allowed = rows.filter((row) => row.fare_eur <= seen.limit);
  const [row] = allowed.sort((a, b) => a.stops - b.stops || a.fare_eur - b.fare_eur);
  return row && { flight: row.flight, direction, fare_eur: row.fare_eur };
}

function holdFlights(seen) {
  const legs = DIRECTIONS.map((direction) => best(seen, direction));
  if (!seen.wants.hold || !legs.every(Boolean) || did(seen, "hold_booking", { kind: "flights" })) return null;
  return called([["hold_booking", { kind: "flights", legs }]]);
}

function single(seen) {
  const { traveller, code } = seen.wants;
  return called([
    ...(traveller && !did(seen, "add_traveller") ? [["add_traveller", { name: traveller }]] : []),
    ...(code && !did(seen, "lookup_expense_code") ? [["lookup_expense_code", {}]] : []),
  ]);
}

function confirm(seen) {
  const flights = did(seen, "hold_booking", { kind: "flights" });
  if (!seen.wants.confirm || !worked(flights) || did(seen, "confirm_booking")) return null;
  const room = seen.all.findLast((step) => step.name === "hold_booking" && step.args.hotel && worked(step));
  const hotel = room?.args.hotel;
  return called([["confirm_booking", { legs: flights.args.legs, ...(hotel && { hotel }) }]]);
}

const called = (pairs) => (pairs.length ? { calls: pairs.map(([name, args]) => ({ name, args })) } : null);

// ---- Saying what was done

const FACTS = [
  [/\bpark|\bcar\b/i, "Long-stay parking is a short shuttle ride from the terminal."],
  [/\bwi-?fi\b/i, "Wi-fi is free throughout the airport."],
];
const leg = ({ direction, flight, fare_eur }) => `${direction} ${flight} at EUR ${fare_eur}`;

function report(seen) {
  const said = seen.steps.map((step) => (worked(step) ? told(step) : `${step.name} failed: ${step.result.error}.`));
  if (did(seen, "search_flights") && !did(seen, "hold_booking")) {
    const legs = DIRECTIONS.map((direction) => best(seen, direction));
    said.push(...legs.map((one) => (one ? `I found ${leg(one)}.` : "I found no flight that is allowed.")));
  }
  const { question } = seen.wants;
  if (question && !seen.steps.length) {
    said.push(FACTS.find(([topic]) => topic.test(question))?.[1] ?? "I do not know that, sorry.");
  }
  return said.filter(Boolean).join(" ") || (limit(sentences(seen.said)) < Infinity ? "Understood." : "Noted.");
}

function told({ name, args, result }) {
  switch (name) {
    case "add_traveller":
      return `${args.name} is on the trip.`;
    case "lookup_expense_code":
      return `The expense code is ${result.code}.`;
    case "hold_booking":
      return args.hotel ? `${args.hotel} is on hold as ${result.id}; I'll keep it until you confirm.` : "";
    case "confirm_booking":
      return `Confirmed as ${result.id}: ${[...args.legs.map(leg), args.hotel].filter(Boolean).join(", ")}.`;
    default:
      return "";
  }
}

// ---- The wire: a line in, a line out

async function main() {
  let session = null;
  for await (const line of createInterface({ input: process.stdin })) {
    const message = JSON.parse(line);
    if (message.type === "close") break;
    let answer;
    try {
      if (message.type === "open") session = new Session(message);
      answer = message.type === "open" ? session.ready : await session.answer(message);
    } catch (error) {
      answer = { type: "error", message: String(error?.message ?? error) };
    }
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
  process.exit(0);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await main();
