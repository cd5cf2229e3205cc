// Coarser copies of shapes, for scenes with more triangles than can be drawn: corners in one cell of a grid become one.

export interface Mesh {
  positions: Float32Array; // 3 a vertex
  normals: Int8Array; // 4 a vertex, the last unused
  indices: Uint32Array;
}

/** How many triangles of each shape may be drawn so that all its bodies together keep to the budget, nearly: what is a
 * small part of the scene stays as it is. */
export function shares(triangles: readonly number[], members: readonly number[], budget: number, fewest = 24): number[] {
  const total = triangles.reduce((sum, n, s) => sum + n * members[s], 0);
  if (total <= budget) return [...triangles];
  return triangles.map((n, s) => n * members[s] < 0.05 * budget ? n : Math.min(n, Math.max(fewest, Math.floor((n * budget) / total))));
}

/** A copy with at most `most` triangles; the mesh itself when it has no more. */
export function simplified(mesh: Mesh, most: number): Mesh {
  if (mesh.indices.length <= 3 * most) return mesh;
  let best: Mesh | undefined;
  let [low, high] = [1, 256]; // cells along the longest side
  while (low <= high) {
    const cells = (low + high) >> 1;
    const coarse = clustered(mesh, cells);
    if (coarse.indices.length <= 3 * most) {
      if (coarse.indices.length) best = coarse;
      low = cells + 1;
    } else high = cells - 1;
  }
  return best ?? mesh;
}

function clustered(mesh: Mesh, cells: number): Mesh {
  const { positions } = mesh;
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  positions.forEach((x, i) => {
    low[i % 3] = Math.min(low[i % 3], x);
    high[i % 3] = Math.max(high[i % 3], x);
  });
  const size = Math.max(high[0] - low[0], high[1] - low[1], high[2] - low[2]) / cells || 1;
  const cellOf = new Map<number, number>();
  const sums: number[] = []; // position, normal, count of each cell
  const cell = Int32Array.from({ length: positions.length / 3 }, (_, v) => {
    const place = [0, 1, 2].map((k) => Math.min(cells - 1, Math.floor((positions[3 * v + k] - low[k]) / size)));
    const key = (place[0] * 512 + place[1]) * 512 + place[2];
    const at = cellOf.get(key) ?? cellOf.size;
    cellOf.set(key, at);
    for (let k = 0; k < 3; k++) {
      sums[7 * at + k] = (sums[7 * at + k] ?? 0) + positions[3 * v + k];
      sums[7 * at + 3 + k] = (sums[7 * at + 3 + k] ?? 0) + mesh.normals[4 * v + k];
    }
    sums[7 * at + 6] = (sums[7 * at + 6] ?? 0) + 1;
    return at;
  });
  return { ...cellMeans(sums, cellOf.size), indices: renumbered(mesh.indices, cell) };
}

function cellMeans(sums: number[], count: number): { positions: Float32Array; normals: Int8Array } {
  const positions = new Float32Array(3 * count);
  const normals = new Int8Array(4 * count);
  for (let c = 0; c < count; c++) {
    const length = Math.hypot(sums[7 * c + 3], sums[7 * c + 4], sums[7 * c + 5]) || 1;
    for (let k = 0; k < 3; k++) {
      positions[3 * c + k] = sums[7 * c + k] / sums[7 * c + 6];
      normals[4 * c + k] = Math.round((127 * sums[7 * c + 3 + k]) / length);
    }
  }
  return { positions, normals };
}

/** Triangles between three different cells, each once. */
function renumbered(indices: Uint32Array, cell: Int32Array): Uint32Array {
  const kept: number[] = [];
  const seen = new Set<string>();
  for (let i = 0; i < indices.length; i += 3) {
    const corners = [cell[indices[i]], cell[indices[i + 1]], cell[indices[i + 2]]];
    if (corners[0] === corners[1] || corners[1] === corners[2] || corners[2] === corners[0]) continue;
    const first = corners.indexOf(Math.min(...corners)); // the same triangle begins at its smallest corner
    const key = `${corners[first]} ${corners[(first + 1) % 3]} ${corners[(first + 2) % 3]}`;
    if (seen.has(key)) continue;
    seen.add(key);
    kept.push(...corners);
  }
  return Uint32Array.from(kept);
}
