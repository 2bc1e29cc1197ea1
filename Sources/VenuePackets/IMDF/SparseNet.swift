/// Connects points by few lines, along which paths are only slightly longer than with all possible lines.
///
/// Source of the greedy spanner: I. Althöfer, G. Das, D. Dobkin, D. Joseph, J. Soares, *On sparse spanners of weighted
/// graphs*, Discrete & Computational Geometry 9, 1993.
struct SparseNet {
    /// A line between two points, given by their indexes.
    struct Edge: Hashable {
        let from: Int
        let to: Int
        let length: Double
    }

    /// The selected lines, the shortest first.
    private(set) var edges: [Edge] = []
    private let work: ImportWork
    private var neighbours: [[(node: Int, length: Double)]]

    /// The largest ratio between the length of a path along the lines and that of an omitted line.
    private static let stretch = 1.2

    /// Selects lines from the candidates.
    ///
    /// - Parameters:
    ///   - work: counts the work; lines are missing if its limit is reached.
    ///   - isOpen: a fast test that all selected lines pass. Without it, each line through a wall would cause a search.
    ///   - isPossible: a slow test, which is called only for lines that shorten a path.
    init(
        nodeCount: Int, candidates: [Edge], work: ImportWork, isOpen: (Edge) -> Bool, isPossible: (Edge) -> Bool
    ) {
        self.work = work
        neighbours = Array(repeating: [], count: nodeCount)
        for edge in candidates.sorted(by: { ($0.length, $0.from, $0.to) < ($1.length, $1.from, $1.to) }) {
            guard !work.isSpent else { return }
            guard isOpen(edge), !isReached(edge.to, from: edge.from, within: Self.stretch * edge.length),
                isPossible(edge)
            else {
                continue
            }
            edges.append(edge)
            neighbours[edge.from].append((edge.to, edge.length))
            neighbours[edge.to].append((edge.from, edge.length))
        }
    }

    /// Dijkstra's search up to the limit: few nodes are open at a time, so a list is sufficient.
    private func isReached(_ goal: Int, from start: Int, within limit: Double) -> Bool {
        var open = [start: 0.0]
        var done: Set<Int> = []
        while let next = open.min(by: { ($0.value, $0.key) < ($1.value, $1.key) }) {
            if next.key == goal { return true }
            work.spend(10 + open.count)
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
