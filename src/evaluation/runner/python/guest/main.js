// What runs inside the sandbox's Deno process: starts Python, then answers one message at a time.
// Started by process.ts and snapshot.ts. Nothing here is trusted by them: an evaluator has all of
// this process, this file included, and what holds it are the process's permissions and limits.
// Source: docs/sandbox.md.
//
// In:  a line {"id", "operation", "codeBytes", "eventBytes"}, then so many bytes of each.
// Out: a line `<id> <answer as JSON>`; the first has the id "ready".

const [task, foldersJson, outputBytesText] = Deno.args;
const { pyodide: pyodideFolder, guest: guestFolder, packages, snapshot } = JSON.parse(foldersJson);
const outputBytesMax = Number(outputBytesText);
const wasmPageBytes = 65_536;
const encoder = new TextEncoder();

function writeAll(bytes) {
  let written = 0;
  while (written < bytes.length) written += Deno.stdout.writeSync(bytes.subarray(written));
}

function answer(id, body) {
  const line = encoder.encode(`${id} ${body}\n`);
  if (line.length <= outputBytesMax) writeAll(line);
  else answerOutputLimit(id);
}

function answerOutputLimit(id) {
  writeAll(encoder.encode(`${id} {"kind":"failure","reason":"OUTPUT_LIMIT","message":""}\n`));
  Deno.exit(0);
}

/** Python's file system lives in memory and is no part of a snapshot, so each start fills it. */
function fillFiles(FS) {
  FS.mkdirTree("/guest");
  for (const { name } of Deno.readDirSync(guestFolder)) {
    if (name.endsWith(".py")) {
      FS.writeFile(`/guest/${name}`, Deno.readFileSync(`${guestFolder}/${name}`));
    }
  }
  FS.mkdirTree("/packages");
  for (const path of packages) {
    FS.writeFile(`/packages/${path.split("/").at(-1)}`, Deno.readFileSync(path));
  }
}

/** Deno reads and checks each module that is imported; for a megabyte that takes a tenth of a second. */
function loadModule(path) {
  const source = Deno.readTextFileSync(path)
    .replaceAll("import.meta.url", () => JSON.stringify(`file://${encodeURI(path)}`))
    .replace(/export default (\w+);\s*$/, ";$1");
  return (0, eval)(source);
}

async function startPython(options, memory) {
  const { loadPyodide } = await import(`file://${encodeURI(pyodideFolder)}/pyodide.mjs`);
  const createModule = loadModule(`${pyodideFolder}/pyodide.asm.mjs`);
  const { info } = JSON.parse(Deno.readTextFileSync(`${pyodideFolder}/pyodide-lock.json`));
  return loadPyodide({
    indexURL: pyodideFolder,
    // Only what we ship can be loaded: the list of packages to fetch is empty.
    lockFileContents: JSON.stringify({ info, packages: {} }),
    fsInit: fillFiles,
    createPyodideModule: (settings) => createModule(memory ? memory.prepare(settings) : settings),
    ...options,
  });
}

/**
 * The memory in a snapshot: read from the file to where Python has it, at the moment at which
 * Pyodide would copy it there. What Pyodide gets is the snapshot's head, which says where the
 * memory begins.
 */
function openMemory(path) {
  const file = Deno.openSync(path);
  const { size } = file.statSync();
  const words = new Uint32Array(2);
  readAll(file, new Uint8Array(words.buffer));
  const begin = words[1];
  const head = new Uint8Array(begin);
  file.seekSync(0, Deno.SeekMode.Start);
  readAll(file, head);
  let target;
  head.subarray = function (from, to) {
    const isMemory = from === begin && to === undefined;
    if (!isMemory) return Uint8Array.prototype.subarray.call(this, from, to);
    readAll(file, new Uint8Array(target.buffer, 0, size - begin));
    file.close();
    return new Uint8Array(0);
  };
  return {
    head,
    /** A snapshot of more than the memory that Python begins with needs it to be there beforehand. */
    prepare(settings) {
      const { instantiateWasm } = settings;
      settings.instantiateWasm = (imports, receive) =>
        instantiateWasm(imports, (instance, module) => {
          target = instance.exports.memory;
          const missing = size - begin - target.buffer.byteLength;
          if (missing > 0) target.grow(Math.ceil(missing / wasmPageBytes));
          return receive(instance, module);
        });
      return settings;
    },
  };
}

function readAll(file, bytes) {
  let filled = 0;
  while (filled < bytes.length) {
    const count = file.readSync(bytes.subarray(filled));
    if (count === null) throw new Error("the snapshot is cut short");
    filled += count;
  }
}

async function makeSnapshot() {
  const python = await startPython({ _makeSnapshot: true });
  const paths = packages.map((path) => `/packages/${path.split("/").at(-1)}`);
  python.runPython(
    `import sys\nsys.path[:0] = ${JSON.stringify(["/guest", ...paths])}\nimport evaluator\n`,
  );
  writeAll(python.makeMemorySnapshot());
}

/** What Python prints while it answers, standard error too; past the limit the process ends. */
function captureOutput(python, id) {
  const chunks = [];
  let bytes = 0;
  const sink = {
    isatty: false,
    write(chunk) {
      bytes += chunk.length;
      if (bytes > outputBytesMax) answerOutputLimit(id);
      chunks.push(chunk.slice());
      return chunk.length;
    },
  };
  python.setStdout(sink);
  python.setStderr(sink);
  return () => {
    const decoder = new TextDecoder();
    return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("");
  };
}

const input = { buffer: new Uint8Array(65_536), start: 0, end: 0 };

/** Waits for bytes; nothing else happens in this process meanwhile. Ends it with the service. */
function readSome(bytes) {
  const count = Deno.stdin.readSync(bytes);
  if (count === null) Deno.exit(0);
  return count;
}

function readLine() {
  let line = "";
  for (;;) {
    const unread = input.buffer.subarray(input.start, input.end);
    const length = unread.indexOf(10);
    line += new TextDecoder().decode(length === -1 ? unread : unread.subarray(0, length));
    input.start = length === -1 ? input.end : input.start + length + 1;
    if (length !== -1) return line;
    input.start = 0;
    input.end = readSome(input.buffer);
  }
}

function readText(size) {
  const bytes = new Uint8Array(size);
  const buffered = input.buffer.subarray(input.start, Math.min(input.end, input.start + size));
  bytes.set(buffered);
  input.start += buffered.length;
  let filled = buffered.length;
  while (filled < size) filled += readSome(bytes.subarray(filled));
  return new TextDecoder().decode(bytes);
}

function perform(python, evaluator) {
  const { id, operation, codeBytes, eventBytes } = JSON.parse(readLine());
  const code = readText(codeBytes);
  const event = readText(eventBytes);
  const readOutput = captureOutput(python, id);
  try {
    const body = operation === "run" ? evaluator.run(code, event) : evaluator.inspect(code);
    answer(id, JSON.stringify({ ...JSON.parse(body), output: readOutput() }));
  } catch (error) {
    // Python itself has ended: out of memory past saving, or out of stack.
    const message = `Python cannot go on: ${String(error).slice(0, 2_000)}`;
    answer(id, JSON.stringify({ kind: "failure", reason: "CRASH", message }));
  }
}

if (task === "snapshot") {
  await makeSnapshot();
} else {
  const memory = openMemory(snapshot);
  const python = await startPython({ _loadSnapshot: memory.head }, memory);
  // Every process starts from the same memory; its random numbers must not be the same.
  python.runPython("import random; random.seed()");
  const evaluator = python.pyimport("evaluator");
  Deno.permissions.revokeSync({ name: "read" });
  answer("ready", "{}");
  for (;;) perform(python, evaluator);
}
