/// Joins points by few lines: whoever walks along them walks at most a little farther than by all possible lines.
///
/// Source of the greedy spanner: I. Althöfer, G. Das, D. Dobkin, D. Joseph, J. Soares, *On sparse spanners of weighted
/// graphs*, Discrete & Computational Geometry 9, 1993.
struct SparseNet {
    /// A line between two points, by their indexes.
    struct Edge: Hashable {
        let from: Int
        let to: Int
        let length: Double
    }

    /// The lines that were chosen, the shortest first.
    private(set) var edges: [Edge] = []
    private var neighbours: [[(node: Int, length: Double)]]

    /// A way along the lines may be so many times as long as a line that was left out.
    private static let stretch = 1.2

    /// Chooses from the candidates; `isPossible` is asked only for those that shorten a way.
    init(nodeCount: Int, candidates: [Edge], isPossible: (Edge) -> Bool) {
        neighbours = Array(repeating: [], count: nodeCount)
        for edge in candidates.sorted(by: { ($0.length, $0.from, $0.to) < ($1.length, $1.from, $1.to) }) {
            guard !isReached(edge.to, from: edge.from, within: Self.stretch * edge.length), isPossible(edge) else {
                continue
            }
            edges.append(edge)
            neighbours[edge.from].append((edge.to, edge.length))
            neighbours[edge.to].append((edge.from, edge.length))
        }
    }

    /// Dijkstra's search, given up beyond the limit: then few nodes are open at a time, and a list is enough.
    private func isReached(_ goal: Int, from start: Int, within limit: Double) -> Bool {
        var open = [start: 0.0]
        var done: Set<Int> = []
        while let next = open.min(by: { ($0.value, $0.key) < ($1.value, $1.key) }) {
            if next.key == goal { return true }
            open[next.key] = nil
            done.insert(next.key)
            for (node, length) in neighbours[next.key] where !done.contains(node) {
                let way = next.value + length
                if way <= limit, way < open[node] ?? .infinity { open[node] = way }
            }
        }
        return false
    }
}
