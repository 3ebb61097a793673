// Path templates of google.api.http: text → segments → text.
// Source: google/api/http.proto, "Path template syntax":
//   Template = "/" Segments [ Verb ] ;   Segments = Segment { "/" Segment } ;
//   Segment  = "*" | "**" | LITERAL | Variable ;
//   Variable = "{" FieldPath [ "=" Segments ] "}" ;   Verb = ":" LITERAL ;

/**
 * One position of a path: a literal text, any one segment, or (last only) any number of segments.
 */
export type PlainSegment =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "any" }
  | { readonly kind: "rest" };

export type VariableSegment = {
  readonly kind: "variable";
  /** Field names from the request message inwards; nearly every template has one name. */
  readonly fieldPath: readonly string[];
  readonly segments: readonly PlainSegment[];
};

export type PathTemplate = {
  readonly segments: readonly (PlainSegment | VariableSegment)[];
  readonly verb: string | undefined;
};

/** Error with the template and the column (from 1) at which it becomes invalid. */
class PathTemplateError extends Error {
  constructor(template: string, index: number, expected: string) {
    super(`path template ${template}: expected ${expected} at column ${index + 1}`);
    this.name = "PathTemplateError";
  }
}

const literalPattern = /[\w.~!$&'()+,;@%-]+/y;
const identifierPattern = /[A-Za-z_]\w*/y;

/** Parses a template. Throws PathTemplateError, also if `**` is not at the end. */
export function parsePathTemplate(template: string): PathTemplate {
  let at = 0;

  const fail = (expected: string): never => {
    throw new PathTemplateError(template, at, expected);
  };
  const accept = (text: string): boolean => {
    if (!template.startsWith(text, at)) return false;
    at += text.length;
    return true;
  };
  const match = (pattern: RegExp, expected: string): string => {
    pattern.lastIndex = at;
    const [text] = pattern.exec(template) ?? [];
    if (text === undefined) return fail(expected);
    at += text.length;
    return text;
  };
  const plainSegment = (): PlainSegment => {
    if (accept("**")) return { kind: "rest" };
    if (accept("*")) return { kind: "any" };
    return { kind: "literal", text: match(literalPattern, "a segment") };
  };
  const list = <T>(item: () => T): T[] => {
    const items = [item()];
    while (accept("/")) items.push(item());
    return items;
  };
  const variable = (): VariableSegment => {
    const fieldPath = [match(identifierPattern, "a field name")];
    while (accept(".")) fieldPath.push(match(identifierPattern, "a field name"));
    const segments: PlainSegment[] = accept("=") ? list(plainSegment) : [{ kind: "any" }];
    if (!accept("}")) fail("}");
    return { kind: "variable", fieldPath, segments };
  };

  if (!accept("/")) fail("/");
  const segments = list(() => (accept("{") ? variable() : plainSegment()));
  const verb = accept(":") ? match(literalPattern, "a verb") : undefined;
  if (at < template.length) fail("the end");
  if (
    plainSegments({ segments, verb })
      .slice(0, -1)
      .some((one) => one.kind === "rest")
  ) {
    throw new PathTemplateError(template, template.indexOf("**"), "** at the end only");
  }
  return { segments, verb };
}

/** Returns the canonical text of a template; parsing it gives the same template. */
export function formatPathTemplate(template: PathTemplate): string {
  const path = template.segments.map(formatSegment).join("/");
  return `/${path}${template.verb === undefined ? "" : `:${template.verb}`}`;
}

/** Returns the positions of a template, with each variable replaced by its segments. */
export function plainSegments(template: PathTemplate): readonly PlainSegment[] {
  return template.segments.flatMap((one) => (one.kind === "variable" ? one.segments : [one]));
}

function formatSegment(segment: PlainSegment | VariableSegment): string {
  switch (segment.kind) {
    case "literal":
      return segment.text;
    case "any":
      return "*";
    case "rest":
      return "**";
    case "variable": {
      const inner = segment.segments.map(formatSegment).join("/");
      const name = segment.fieldPath.join(".");
      return inner === "*" ? `{${name}}` : `{${name}=${inner}}`;
    }
  }
}
