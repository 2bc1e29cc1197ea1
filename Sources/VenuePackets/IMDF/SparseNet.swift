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
    /// The nodes of the current search that are reached and not done.
    private var open: [Int] = []
    /// The length of the shortest path found to each node, and the number of the search that found it.
    private var paths: [(length: Double, search: Int)]
    private var searchCount = 0

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
        paths = Array(repeating: (0, 0), count: nodeCount)
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
    private mutating func isReached(_ goal: Int, from start: Int, within limit: Double) -> Bool {
        searchCount += 1
        open.removeAll(keepingCapacity: true)
        open.append(start)
        paths[start] = (0, searchCount)
        while let place = open.indices.min(by: { paths[open[$0]].length < paths[open[$1]].length }) {
            let next = open[place]
            if next == goal { return true }
            work.spend(10 + open.count)
            open.swapAt(place, open.count - 1)
            open.removeLast()
            for (node, length) in neighbours[next] {
                let way = paths[next].length + length
                guard way <= limit else { continue }
                if paths[node].search != searchCount {
                    paths[node] = (way, searchCount)
                    open.append(node)
                } else if way < paths[node].length {
                    // The node is still open: a path to a node that is done can't become shorter.
                    paths[node].length = way
                }
            }
        }
        return false
    }
}
