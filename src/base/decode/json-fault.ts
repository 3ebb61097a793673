// Finds the position at which a text stops being JSON. JSON.parse names it only for some errors,
// and then with an excerpt of the text, which answers and logs must not contain. Source: RFC 8259.

type Expected = "value" | "value or ]" | "name" | "name or }" | ":" | ", or end" | "nothing";

/** Position of a scan in the text; each step moves `at` and returns false at an error. */
type Scan = { readonly text: string; at: number; expected: Expected; readonly open: ("{" | "[")[] };

/** Returns a clause for a message, with the position as JSON.parse counts: UTF-16 units from 0. */
export function describeJsonFault(text: string): string {
  const at = findJsonFault(text);
  const word = ["NaN", "Infinity"].find((one) => text.startsWith(one, at));
  // A frequent mistake of JSON writers, so it has its own message.
  if (word) return `${word} at position ${at} is no JSON number`;
  return `unexpected ${at >= text.length ? "end" : "character"} at position ${at}`;
}

/** Returns the index of the first character that no JSON text can have there, or the length. */
function findJsonFault(text: string): number {
  const scan: Scan = { text, at: 0, expected: "value", open: [] };
  do skipSpace(scan);
  while (scan.at < text.length && step(scan));
  return scan.at;
}

function skipSpace(scan: Scan): void {
  while (scan.at < scan.text.length && " \t\n\r".includes(scan.text.charAt(scan.at))) scan.at += 1;
}

function step(scan: Scan): boolean {
  const char = scan.text.charAt(scan.at);
  switch (scan.expected) {
    case "value or ]":
      return char === "]" ? close(scan) : stepValue(scan, char);
    case "value":
      return stepValue(scan, char);
    case "name or }":
      return char === "}" ? close(scan) : stepName(scan, char);
    case "name":
      return stepName(scan, char);
    case ":":
      return char === ":" && punctuate(scan, "value");
    case ", or end": {
      const isObject = scan.open.at(-1) === "{";
      if (char === ",") return punctuate(scan, isObject ? "name" : "value");
      return char === (isObject ? "}" : "]") && close(scan);
    }
    case "nothing":
      return false;
  }
}

function stepName(scan: Scan, char: string): boolean {
  if (char !== '"' || !stepString(scan)) return false;
  scan.expected = ":";
  return true;
}

function stepValue(scan: Scan, char: string): boolean {
  if (char === "{" || char === "[") {
    scan.open.push(char);
    return punctuate(scan, char === "{" ? "name or }" : "value or ]");
  }
  const isWhole =
    char === '"'
      ? stepString(scan)
      : char === "-" || isDigit(char)
        ? stepNumber(scan)
        : stepWord(scan, ["true", "false", "null"].find((word) => word.startsWith(char)) ?? "");
  return isWhole && endValue(scan);
}

function punctuate(scan: Scan, expected: Expected): boolean {
  scan.at += 1;
  scan.expected = expected;
  return true;
}

function close(scan: Scan): boolean {
  scan.at += 1;
  scan.open.pop();
  return endValue(scan);
}

function endValue(scan: Scan): boolean {
  scan.expected = scan.open.length === 0 ? "nothing" : ", or end";
  return true;
}

function stepWord(scan: Scan, word: string): boolean {
  for (const char of word) {
    if (scan.text[scan.at] !== char) return false;
    scan.at += 1;
  }
  return word !== "";
}

function stepString(scan: Scan): boolean {
  for (scan.at += 1; scan.at < scan.text.length; scan.at += 1) {
    const char = scan.text.charAt(scan.at);
    if (char === '"') {
      scan.at += 1;
      return true;
    }
    if (char < " " || (char === "\\" && !stepEscape(scan))) return false;
  }
  return false;
}

/** Moves from the backslash to the last character of the escape. */
function stepEscape(scan: Scan): boolean {
  scan.at += 1;
  const char = scan.text.charAt(scan.at);
  if (char !== "u") return char !== "" && '"\\/bfnrt'.includes(char);
  for (let digit = 0; digit < 4; digit += 1) {
    scan.at += 1;
    if (!/^[\da-fA-F]$/.test(scan.text.charAt(scan.at))) return false;
  }
  return true;
}

function stepNumber(scan: Scan): boolean {
  const { text } = scan;
  if (text[scan.at] === "-") scan.at += 1;
  if (text[scan.at] === "0") scan.at += 1;
  else if (!stepDigits(scan)) return false;
  if (text[scan.at] === ".") {
    scan.at += 1;
    if (!stepDigits(scan)) return false;
  }
  if (text[scan.at] !== "e" && text[scan.at] !== "E") return true;
  scan.at += 1;
  if (text[scan.at] === "+" || text[scan.at] === "-") scan.at += 1;
  return stepDigits(scan);
}

function stepDigits(scan: Scan): boolean {
  const from = scan.at;
  while (isDigit(scan.text.charAt(scan.at))) scan.at += 1;
  return scan.at > from;
}

function isDigit(char: string): boolean {
  return char >= "0" && char <= "9" && char.length === 1;
}
