extension PathGraph {
    /// The numbers of all nodes that can be walked to from any of `starts`, these included.
    ///
    /// Edges are walked in the directions that they allow; numbers that no node has are passed over.
    /// O(n) in the size of the graph.
    public func nodes(reachableFrom starts: [Int]) -> Set<Int> {
        let known = Set(nodes.map(\.id))
        var neighbors: [Int: [Int]] = [:]
        for edge in edges where known.contains(edge.from) && known.contains(edge.to) {
            neighbors[edge.from, default: []].append(edge.to)
            if !edge.isOneWay { neighbors[edge.to, default: []].append(edge.from) }
        }
        var waiting = starts.filter(known.contains)
        var reached = Set(waiting)
        while let node = waiting.popLast() {
            for neighbor in neighbors[node] ?? [] where reached.insert(neighbor).inserted { waiting.append(neighbor) }
        }
        return reached
    }
}

/// Finds the node of a path graph that lies nearest to a point.
struct NearestNodes: Sendable {
    /// From left to right.
    private let nodesByMap: [MapID: [PathGraph.Node]]

    /// Sorts the nodes; those at no finite place are left out.
    init(_ nodes: [PathGraph.Node]) {
        let placed = nodes.filter { $0.point.x.isFinite && $0.point.y.isFinite }
        nodesByMap = Dictionary(grouping: placed, by: \.mapID).mapValues { nodes in
            nodes.sorted { ($0.point.x, $0.id) < ($1.point.x, $1.id) }
        }
    }

    /// The nearest node on the map, of equally near ones that with the lowest number; nil if there is none.
    ///
    /// Searches to both sides, until nodes are farther away by their x alone.
    func node(to point: MapPoint, on map: MapID) -> PathGraph.Node? {
        guard let nodes = nodesByMap[map], point.x.isFinite, point.y.isFinite else { return nil }
        var right = Self.firstIndex(of: nodes, from: point.x)
        var left = right - 1
        var best: (distance: Double, node: PathGraph.Node)?
        while left >= 0 || right < nodes.count {
            let leftGap = left >= 0 ? point.x - nodes[left].point.x : .infinity
            let rightGap = right < nodes.count ? nodes[right].point.x - point.x : .infinity
            if let best, min(leftGap, rightGap) > best.distance { break }
            let node = leftGap < rightGap ? nodes[left] : nodes[right]
            if leftGap < rightGap { left -= 1 } else { right += 1 }
            let distance = node.point.distance(to: point)
            if let best, (best.distance, best.node.id) <= (distance, node.id) { continue }
            best = (distance, node)
        }
        return best?.node
    }

    /// The index of the first node at `x` or to the right of it, by halving.
    private static func firstIndex(of nodes: [PathGraph.Node], from x: Double) -> Int {
        var range = 0..<nodes.count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = nodes[middle].point.x < x ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }
}
