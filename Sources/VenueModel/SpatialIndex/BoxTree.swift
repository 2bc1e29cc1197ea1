import IndoorVocabulary

/// A packed tree of nested boxes that finds the boxes containing a point.
///
/// A tree is used instead of a grid because a packet can contain any areas: with cells as large as a room, a grid would
/// need a million cells for one distant geofence, and would list each large area in all of its cells. The tree has at
/// most one inner node per box, regardless of the shapes of the boxes. A search tests about `2 log₂(n / 8) + 8` boxes,
/// and as many again for each box found.
///
/// Boxes are split at the median of their centres, along the longer side, until at most eight remain. The nodes are
/// stored in one array in search order. Each node has the index at which the search continues if the point isn't in its
/// box, so a search needs no stack. Source: A. Guttman, *R-trees: a dynamic index structure for spatial searching*,
/// SIGMOD 1984; B. Smits, *Efficiency issues for ray tracing*, Journal of Graphics Tools 3(2), 1998 (the array with
/// skips).
struct BoxTree: Hashable, Sendable {
    /// A box and its item.
    struct Entry: Hashable, Sendable {
        var box: BoundingBox
        var item: Int
    }

    fileprivate struct Node: Hashable, Sendable {
        var box: BoundingBox
        /// The index at which the search continues if the point isn't in the box.
        var next: Int
        /// The item of the box; -1 for a box around the nodes before `next`.
        var item: Int
    }

    private static let leafSize = 8
    private var nodes: [Node] = []

    /// Creates the tree in O(n log² n).
    init(_ entries: [Entry]) {
        var entries = entries
        nodes.reserveCapacity(entries.count + entries.count / 2 + 1)
        add(&entries, entries.indices)
    }

    private mutating func add(_ entries: inout [Entry], _ range: Range<Int>) {
        guard !range.isEmpty else { return }
        let place = nodes.count
        let box = entries[range].reduce(BoundingBox.empty) { $0.union($1.box) }
        nodes.append(Node(box: box, next: 0, item: -1))
        if range.count <= Self.leafSize {
            for entry in entries[range] {
                nodes.append(Node(box: entry.box, next: nodes.count + 1, item: entry.item))
            }
        } else {
            let middle = Self.halve(&entries, range)
            add(&entries, range.lowerBound..<middle)
            add(&entries, middle..<range.upperBound)
        }
        nodes[place].next = nodes.count
    }

    /// Sorts the entries along the longer side of the box around their centres, and returns the middle index.
    private static func halve(_ entries: inout [Entry], _ range: Range<Int>) -> Int {
        var centers = BoundingBox.empty
        for entry in entries[range] {
            let center = center(of: entry)
            centers = centers.union(
                BoundingBox(minX: center.x, minY: center.y, maxX: center.x, maxY: center.y))
        }
        let isWide = centers.maxX - centers.minX >= centers.maxY - centers.minY
        entries[range].sort { first, second in
            let (a, b) = (center(of: first), center(of: second))
            let (left, right) = isWide ? (a.x, b.x) : (a.y, b.y)
            return left != right ? left < right : first.item < second.item
        }
        return range.lowerBound + range.count / 2
    }

    /// Returns the centre of a box; zero for infinite boxes, which have no centre.
    private static func center(of entry: Entry) -> MapPoint {
        let center = entry.box.center
        return MapPoint(x: center.x.isFinite ? center.x : 0, y: center.y.isFinite ? center.y : 0)
    }

    /// Returns the items whose boxes contain the point, in no particular order.
    func items(at point: MapPoint) -> Search { Search(nodes: nodes, point: point) }

    /// A lazy search, which allocates no memory.
    struct Search: Sequence, IteratorProtocol {
        private let nodes: [Node]
        private let point: MapPoint
        private var index = 0

        fileprivate init(nodes: [Node], point: MapPoint) {
            self.nodes = nodes
            self.point = point
        }

        mutating func next() -> Int? {
            while index < nodes.count {
                guard nodes[index].box.contains(point) else {
                    index = nodes[index].next
                    continue
                }
                let item = nodes[index].item
                index += 1
                if item >= 0 { return item }
            }
            return nil
        }
    }
}
