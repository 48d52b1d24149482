// Events a second through the reducers of AG-UI's client and of the AI SDK over a whole run, for each size named as an argument.
// A cycle is 24 events: 15 pieces of text and one tool call. One run is one message list (AG-UI) or one message (AI SDK).
import { AbstractAgent } from "@ag-ui/client";
import { readUIMessageStream } from "ai";
import { Observable } from "rxjs";

const sizes = process.argv.slice(2).map(Number);

function* agUi(size) {
  yield { type: "RUN_STARTED", threadId: "t", runId: "r" };
  let made = 1;
  for (let cycle = 0; made < size; cycle++) {
    const message = `m${cycle}`;
    const call = `c${cycle}`;
    const events = [{ type: "TEXT_MESSAGE_START", messageId: message, role: "assistant" }];
    for (let piece = 0; piece < 15; piece++) {
      events.push({ type: "TEXT_MESSAGE_CONTENT", messageId: message, delta: "a few words of " });
    }
    events.push({ type: "TEXT_MESSAGE_END", messageId: message });
    events.push({ type: "TOOL_CALL_START", toolCallId: call, toolCallName: "Read", parentMessageId: message });
    for (const delta of ['{"file', '_path":', '"notes.md"}']) {
      events.push({ type: "TOOL_CALL_ARGS", toolCallId: call, delta });
    }
    events.push({ type: "TOOL_CALL_END", toolCallId: call });
    events.push({ type: "TOOL_CALL_RESULT", toolCallId: call, messageId: `t${cycle}`, content: "# On duty", role: "tool" });
    events.push({ type: "CUSTOM", name: "cost", value: 1 });
    yield* events;
    made += events.length;
  }
  yield { type: "RUN_FINISHED", threadId: "t", runId: "r" };
}

function* aiSdk(size) {
  yield { type: "start", messageId: "m" };
  let made = 1;
  for (let cycle = 0; made < size; cycle++) {
    const text = `t${cycle}`;
    const call = `c${cycle}`;
    const chunks = [{ type: "start-step" }, { type: "text-start", id: text }];
    for (let piece = 0; piece < 15; piece++) chunks.push({ type: "text-delta", id: text, delta: "a few words of " });
    chunks.push({ type: "text-end", id: text });
    chunks.push({ type: "tool-input-start", toolCallId: call, toolName: "Read" });
    chunks.push({ type: "tool-input-delta", toolCallId: call, inputTextDelta: '{"file_path":' });
    chunks.push({ type: "tool-input-delta", toolCallId: call, inputTextDelta: '"notes.md"}' });
    chunks.push({ type: "tool-input-available", toolCallId: call, toolName: "Read", input: { file_path: "notes.md" } });
    chunks.push({ type: "tool-output-available", toolCallId: call, output: "# On duty" });
    chunks.push({ type: "finish-step" });
    yield* chunks;
    made += chunks.length;
  }
  yield { type: "finish" };
}

class Played extends AbstractAgent {
  constructor(events) {
    super({ threadId: "t" });
    this.events = events;
  }
  run() {
    return new Observable((observer) => {
      for (const event of this.events) observer.next(event);
      observer.complete();
    });
  }
}

async function timed(work, count) {
  const began = performance.now();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  // The processor's time, which other programs do not lengthen; not more than the clock's, as helping threads would make it.
  return count / (Math.min((user + system) / 1000, performance.now() - began) / 1000);
}

const found = { "AG-UI client": {}, "AI SDK": {} };
for (const size of sizes) {
  const events = [...agUi(size)];
  const agent = new Played(events);
  found["AG-UI client"][size] = await timed(() => agent.runAgent({ runId: "r" }), events.length);
  const chunks = [...aiSdk(size)];
  found["AI SDK"][size] = await timed(async () => {
    const stream = new ReadableStream({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(chunk);
        controller.close();
      },
    });
    for await (const _ of readUIMessageStream({ stream, terminateOnError: true }));
  }, chunks.length);
}
console.log(JSON.stringify(found));
