// Finds the binding of an HTTP method and path, in a trie of the http rules of all rpcs. Literal
// segments take precedence over `*`, and `*` over `**`; each segment costs one map look-up.
// Source: google/api/http.proto.

import { type PathTemplate, formatPathTemplate, plainSegments } from "./path-template.ts";

/** Variable of a path: its field path in the template and its percent-decoded value. */
export type PathVariable = { readonly fieldPath: readonly string[]; readonly value: string };

export type RouteMatch<T> = { readonly target: T; readonly variables: readonly PathVariable[] };

export type RouteTrie<T> = {
  /** Adds a route. Throws if a route with the same method and shape exists. */
  add(httpMethod: string, template: PathTemplate, target: T): void;
  /** Returns undefined for an unknown path, another method, or a broken percent-encoding. */
  find(httpMethod: string, path: string): RouteMatch<T> | undefined;
};

type Leaf<T> = { readonly template: PathTemplate; readonly target: T };

type Node<T> = {
  readonly literals: Map<string, Node<T>>;
  any: Node<T> | undefined;
  rest: Node<T> | undefined;
  /** Leaves by `METHOD` or `METHOD:verb`. */
  readonly leaves: Map<string, Leaf<T>>;
  readonly verbs: Set<string>;
};

function createNode<T>(): Node<T> {
  return {
    literals: new Map(),
    any: undefined,
    rest: undefined,
    leaves: new Map(),
    verbs: new Set(),
  };
}

export function createRouteTrie<T>(): RouteTrie<T> {
  const root = createNode<T>();

  return {
    add(httpMethod, template, target) {
      let node = root;
      for (const segment of plainSegments(template)) {
        if (segment.kind === "any") node = node.any ??= createNode();
        else if (segment.kind === "rest") node = node.rest ??= createNode();
        else node = childOf(node, segment.text);
      }
      const key = leafKey(httpMethod, template.verb);
      if (node.leaves.has(key)) {
        throw new Error(`two routes for ${httpMethod} ${formatPathTemplate(template)}`);
      }
      if (template.verb !== undefined) node.verbs.add(template.verb);
      node.leaves.set(key, { template, target });
    },

    find(httpMethod, path) {
      if (!path.startsWith("/")) return undefined;
      const segments = path.slice(1).split("/");
      return walk(root, segments, 0, httpMethod);
    },
  };
}

function childOf<T>(node: Node<T>, text: string): Node<T> {
  const found = node.literals.get(text) ?? createNode<T>();
  node.literals.set(text, found);
  return found;
}

function leafKey(httpMethod: string, verb: string | undefined): string {
  return verb === undefined ? httpMethod : `${httpMethod}:${verb}`;
}

function walk<T>(
  node: Node<T>,
  segments: readonly string[],
  index: number,
  httpMethod: string,
): RouteMatch<T> | undefined {
  const text = segments[index];
  if (text === undefined) return leafMatch(node, segments, httpMethod, undefined);
  const isLast = index === segments.length - 1;
  const literal = node.literals.get(text);
  const found = literal && walk(literal, segments, index + 1, httpMethod);
  if (found) return found;
  if (isLast) {
    const verbed = walkVerb(node, segments, index, httpMethod);
    if (verbed) return verbed;
  }
  if (node.any && text !== "") {
    const any = walk(node.any, segments, index + 1, httpMethod);
    if (any) return any;
  }
  return node.rest && leafMatch(node.rest, segments, httpMethod, undefined);
}

/** Matches a last segment `text:verb`; a colon without a known verb belongs to the text. */
function walkVerb<T>(
  node: Node<T>,
  segments: readonly string[],
  index: number,
  httpMethod: string,
): RouteMatch<T> | undefined {
  const text = segments[index] ?? "";
  const colon = text.lastIndexOf(":");
  if (colon < 0) return undefined;
  const verb = text.slice(colon + 1);
  const head = text.slice(0, colon);
  const bare = [...segments.slice(0, index), head];
  for (const next of [node.literals.get(head), node.any, node.rest]) {
    if (next?.verbs.has(verb)) return leafMatch(next, bare, httpMethod, verb);
  }
  return undefined;
}

function leafMatch<T>(
  node: Node<T>,
  segments: readonly string[],
  httpMethod: string,
  verb: string | undefined,
): RouteMatch<T> | undefined {
  const leaf = node.leaves.get(leafKey(httpMethod, verb));
  const variables = leaf && variablesOf(leaf.template, segments);
  return leaf && variables && { target: leaf.target, variables };
}

function variablesOf(
  template: PathTemplate,
  segments: readonly string[],
): readonly PathVariable[] | undefined {
  const variables: PathVariable[] = [];
  let at = 0;
  for (const segment of template.segments) {
    if (segment.kind !== "variable") {
      at += 1;
      continue;
    }
    const isOpen = segment.segments.at(-1)?.kind === "rest";
    const end = isOpen ? segments.length : at + segment.segments.length;
    const raw = segments.slice(at, end);
    try {
      // Several segments keep `%2F`, to distinguish a slash inside a segment from a separator.
      const value =
        raw.length === 1 && !isOpen
          ? decodeURIComponent(raw[0] ?? "")
          : raw
              .map((one) => one.replace(/(?:%(?!2f)[0-9a-f]{2})+/gi, decodeURIComponent))
              .join("/");
      variables.push({ fieldPath: segment.fieldPath, value });
    } catch {
      // A path with broken percent-encoding matches no route.
      return undefined;
    }
    at = end;
  }
  return variables;
}
