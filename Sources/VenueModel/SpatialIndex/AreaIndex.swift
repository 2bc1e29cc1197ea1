import IndoorVocabulary

/// A spatial index of areas. The time of a query depends on the areas near the point, not on the total number of areas.
///
/// The index is built once per venue, with a tree of boxes for each map. The results are the same as if each area were
/// tested; the boxes only avoid tests. A query never returns an empty area. Points beyond the edges of the plan are
/// valid.
package struct AreaIndex: Hashable, Sendable {
    private let areas: [Area]
    private let trees: [MapID: BoxTree]

    /// Creates the index in O(n log² n). Areas are identified by their index in the list.
    package init(_ places: [(mapID: MapID, area: Area)]) {
        areas = places.map(\.area)
        let indexesByMap = Dictionary(grouping: places.indices) { places[$0].mapID }
        trees = indexesByMap.mapValues { indexes in
            BoxTree(
                indexes.compactMap { index in
                    places[index].area.bounds.map { BoxTree.Entry(box: $0, item: index) }
                })
        }
    }

    /// Appends the indexes of the areas of a map that contain the point, in no particular order.
    ///
    /// The time is linear in the number of corners of the areas whose boxes contain the point. Allocates no memory
    /// while `indexes` has capacity.
    package func append(to indexes: inout [Int], containing point: MapPoint, on map: MapID) {
        guard let tree = trees[map] else { return }
        for index in tree.items(at: point) where areas[index].contains(point) { indexes.append(index) }
    }

    /// Returns the lowest index of the areas of a map that contain the point; nil if there is none.
    package func lowest(containing point: MapPoint, on map: MapID) -> Int? {
        guard let tree = trees[map] else { return nil }
        var lowest: Int?
        for index in tree.items(at: point) where index < lowest ?? .max && areas[index].contains(point) {
            lowest = index
        }
        return lowest
    }
}

/// A spatial index that finds the room containing a point.
public struct RoomIndex: Hashable, Sendable {
    /// The rooms with a shape, the smallest first.
    package let rooms: [Room]
    private let index: AreaIndex

    /// Creates an index of the rooms with a shape. Rooms without a shape are only known to classifiers.
    public init(rooms: [Room]) {
        let shaped = rooms.compactMap { room in room.area.map { (room: room, area: $0, size: $0.squareMeters) } }
        let sorted = shaped.sorted { ($0.size, $0.room.id) < ($1.size, $1.room.id) }
        self.rooms = sorted.map(\.room)
        index = AreaIndex(sorted.map { ($0.room.mapID, $0.area) })
    }

    /// Returns the smallest room of the map that contains the point; among rooms of equal size, the one with the lowest
    /// ID.
    ///
    /// The result is nil if there is none. The time depends on the number of corners of the rooms near the point, not
    /// on the total number of rooms.
    public func room(at point: MapPoint, on map: MapID) -> Room? {
        place(at: point, on: map).map { rooms[$0] }
    }

    /// Returns the index in `rooms` of the room that `room(at:on:)` returns.
    package func place(at point: MapPoint, on map: MapID) -> Int? { index.lowest(containing: point, on: map) }
}

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

/// An axis-aligned rectangle on a map, including its edges.
package struct BoundingBox: Hashable, Sendable {
    package var minX: Double
    package var minY: Double
    package var maxX: Double
    package var maxY: Double

    /// The empty box, which contains no point.
    static let empty = BoundingBox(minX: .infinity, minY: .infinity, maxX: -.infinity, maxY: -.infinity)
    /// The infinite box, which contains every point.
    static let everywhere = BoundingBox(minX: -.infinity, minY: -.infinity, maxX: .infinity, maxY: .infinity)

    var center: MapPoint { MapPoint(x: minX + (maxX - minX) / 2, y: minY + (maxY - minY) / 2) }

    /// Returns whether the box contains a point; false if a coordinate is NaN.
    func contains(_ point: MapPoint) -> Bool {
        point.x >= minX && point.x <= maxX && point.y >= minY && point.y <= maxY
    }

    func union(_ other: BoundingBox) -> BoundingBox {
        BoundingBox(
            minX: min(minX, other.minX), minY: min(minY, other.minY), maxX: max(maxX, other.maxX),
            maxY: max(maxY, other.maxY))
    }
}

extension Area {
    /// A box that contains the area; nil if the area is empty.
    ///
    /// The margin of the box exceeds the rounding errors of `contains`. For coordinates that are too large or NaN, the
    /// box is infinite, so only `contains` decides.
    package var bounds: BoundingBox? {
        let largest = 1e100
        switch self {
        case .circle(let center, let radius):
            guard radius >= 0 else { return nil }
            guard abs(center.x) < largest, abs(center.y) < largest, radius < largest else { return .everywhere }
            let reach = radius + Self.margin(max(abs(center.x), abs(center.y), radius))
            return BoundingBox(
                minX: center.x - reach, minY: center.y - reach, maxX: center.x + reach, maxY: center.y + reach)
        case .polygon(let corners):
            guard !corners.isEmpty else { return nil }
            var box = BoundingBox.empty
            for corner in corners {
                guard abs(corner.x) < largest, abs(corner.y) < largest else { return .everywhere }
                box = box.union(BoundingBox(minX: corner.x, minY: corner.y, maxX: corner.x, maxY: corner.y))
            }
            let margin = Self.margin(max(abs(box.minX), abs(box.minY), abs(box.maxX), abs(box.maxY)))
            return BoundingBox(
                minX: box.minX - margin, minY: box.minY - margin, maxX: box.maxX + margin, maxY: box.maxY + margin)
        }
    }

    /// Returns whether the bounding box overlaps a plan.
    package func touches(_ map: VenueMap) -> Bool {
        guard let bounds else { return false }
        return bounds.maxX >= 0 && bounds.minX <= map.width && bounds.maxY >= 0 && bounds.minY <= map.height
    }

    /// Returns a thousand times the rounding error of a `Double` with the magnitude `size`.
    private static func margin(_ size: Double) -> Double { size * 1000 * .ulpOfOne }
}
