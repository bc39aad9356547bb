/** Knots of a graph: sets of two or more nodes, each of which leads to all others of its set. */

/** `edges` maps each node to the set of nodes that it points at. The largest knot first. */
export function findKnots(edges) {
  const back = turnAround(edges);
  const open = new Set(edges.keys());
  const knots = [];
  // Kosaraju's algorithm: in the reverse order of leaving, everything that leads back to a node is its knot.
  for (const start of orderByLeaving(edges).reverse()) {
    if (!open.has(start)) continue;
    const knot = [];
    reach(start, back, { open, onLeave: (node) => knot.push(node) });
    if (knot.length > 1) knots.push(knot.sort());
  }
  return knots.sort((a, b) => b.length - a.length);
}

function turnAround(edges) {
  const back = new Map([...edges.keys()].map((node) => [node, new Set()]));
  for (const [node, targets] of edges) for (const to of targets) back.get(to)?.add(node);
  return back;
}

function orderByLeaving(edges) {
  const open = new Set(edges.keys());
  const order = [];
  for (const node of edges.keys()) {
    if (open.has(node)) reach(node, edges, { open, onLeave: (left) => order.push(left) });
  }
  return order;
}

/** Visits what a node leads to, depth first, and removes it from `open`. The depth is that of imports. */
function reach(node, edges, { open, onLeave }) {
  open.delete(node);
  for (const to of edges.get(node) ?? []) {
    if (open.has(to)) reach(to, edges, { open, onLeave });
  }
  onLeave(node);
}
