import IndoorVocabulary

/// A straight line segment of a plan, longer than a millimetre.
struct StraightLine: Hashable, Sendable {
    let from: MapPoint
    let to: MapPoint
    /// The length in metres.
    let length: Double
    /// The unit vector along the line.
    private let direction: MapPoint

    /// Creates a line; nil if the two points are less than a millimetre apart.
    init?(from: MapPoint, to: MapPoint) {
        length = from.distance(to: to)
        guard length > 0.001 else { return nil }
        self.from = from
        self.to = to
        direction = (to - from) * (1 / length)
    }

    /// Returns the edges of a ring.
    static func edges(of ring: [MapPoint]) -> [StraightLine] {
        zip(ring, ring.dropFirst() + ring.prefix(1)).compactMap { StraightLine(from: $0, to: $1) }
    }

    /// Returns the segments of a polyline.
    static func pieces(of line: [MapPoint]) -> [StraightLine] {
        zip(line, line.dropFirst()).compactMap { StraightLine(from: $0, to: $1) }
    }

    var box: PlanBox { PlanBox(from, to) }

    /// Returns the point at a distance from the start.
    func point(at metres: Double) -> MapPoint {
        metres <= 0 ? from : metres >= length ? to : from + direction * metres
    }

    /// Returns metres along the line and to its right, seen along it with y down.
    func offset(of point: MapPoint) -> (along: Double, beside: Double) {
        let way = point - from
        return (
            way.x * direction.x + way.y * direction.y, way.y * direction.x - way.x * direction.y
        )
    }

    /// Returns a point beside the line: to its right for a positive distance.
    func point(at metres: Double, beside distance: Double) -> MapPoint {
        from + direction * metres + MapPoint(x: -direction.y, y: direction.x) * distance
    }

    /// Returns the part of this line that another line runs along, in metres from the start; nil if it doesn't.
    ///
    /// - Parameters:
    ///   - distance: the largest distance between the two lines.
    ///   - leastCosine: the smallest cosine of the angle between them.
    func shadow(of other: StraightLine, within distance: Double, leastCosine: Double) -> ClosedRange<Double>? {
        let cosine = direction.x * other.direction.x + direction.y * other.direction.y
        guard abs(cosine) >= leastCosine else { return nil }
        let (first, second) = (offset(of: other.from), offset(of: other.to))
        let low = max(0, min(first.along, second.along))
        let high = min(length, max(first.along, second.along))
        // A shared part below a centimetre means that the two lines only meet at their ends.
        guard high - low > 0.01 else { return nil }
        let share = ((low + high) / 2 - first.along) / (second.along - first.along)
        let beside = first.beside + (second.beside - first.beside) * share
        return abs(beside) <= distance ? low...high : nil
    }

    /// Returns the line without some parts, in order; segments below a centimetre are omitted.
    func remainder(without parts: [ClosedRange<Double>]) -> [StraightLine] {
        var pieces: [StraightLine] = []
        var start = 0.0
        for part in parts.sorted(by: { $0.lowerBound < $1.lowerBound }) + [length...length] {
            if part.lowerBound - start > 0.01,
                let piece = StraightLine(from: point(at: start), to: point(at: part.lowerBound))
            {
                pieces.append(piece)
            }
            start = max(start, part.upperBound)
        }
        return pieces
    }
}

/// A rectangle of a plan with sides along its axes.
struct PlanBox: Hashable, Sendable {
    var minX: Double
    var minY: Double
    var maxX: Double
    var maxY: Double

    /// Creates the smallest box around the points, enlarged by `margin` metres on each side.
    init(around points: some Sequence<MapPoint>, margin: Double = 0) {
        var box: PlanBox?
        for point in points {
            guard let old = box else {
                box = PlanBox(point, point)
                continue
            }
            box = PlanBox(
                MapPoint(x: min(old.minX, point.x), y: min(old.minY, point.y)),
                MapPoint(x: max(old.maxX, point.x), y: max(old.maxY, point.y)))
        }
        self = (box ?? PlanBox(MapPoint(x: 0, y: 0), MapPoint(x: 0, y: 0))).grown(by: margin)
    }

    /// Creates the smallest box around two points.
    init(_ one: MapPoint, _ other: MapPoint) {
        (minX, minY) = (min(one.x, other.x), min(one.y, other.y))
        (maxX, maxY) = (max(one.x, other.x), max(one.y, other.y))
    }

    func meets(_ other: PlanBox) -> Bool {
        minX <= other.maxX && other.minX <= maxX && minY <= other.maxY && other.minY <= maxY
    }

    /// Returns the box, enlarged by `margin` metres on each side.
    func grown(by margin: Double) -> PlanBox {
        var box = self
        (box.minX, box.minY) = (minX - margin, minY - margin)
        (box.maxX, box.maxY) = (maxX + margin, maxY + margin)
        return box
    }
}

/// A spatial index of boxes on a plan.
struct PlanGrid {
    private let boxes: [PlanBox]
    private let work: ImportWork
    private let bounds: PlanBox
    private let edge: Double
    private let columns: Int
    private var cells: [[Int]]
    /// Boxes that cover so many cells that testing them each time is cheaper.
    private var large: [Int] = []

    /// The smallest edge of a cell in metres, about the width of a door.
    private static let smallestCell = 2.0
    /// The largest number of cells along each axis.
    private static let mostCells = 128
    /// The largest number of cells that list one box.
    private static let mostOfOne = 256

    /// - Parameter work: counts what a search takes.
    init(_ boxes: [PlanBox], work: ImportWork) {
        self.boxes = boxes
        self.work = work
        bounds = PlanBox(
            around: boxes.lazy.flatMap { [MapPoint(x: $0.minX, y: $0.minY), MapPoint(x: $0.maxX, y: $0.maxY)] })
        let longest = max(bounds.maxX - bounds.minX, bounds.maxY - bounds.minY)
        edge = max(Self.smallestCell, longest / Double(Self.mostCells - 1))
        columns = Int((bounds.maxX - bounds.minX) / edge) + 1
        cells = Array(repeating: [], count: columns * (Int((bounds.maxY - bounds.minY) / edge) + 1))
        for (index, box) in boxes.enumerated() {
            let (rows, columns) = covered(by: box)
            if rows.count * columns.count > Self.mostOfOne {
                large.append(index)
            } else {
                for row in rows { for column in columns { cells[row * self.columns + column].append(index) } }
            }
        }
    }

    /// Returns the items whose boxes overlap this one, in ascending order.
    func near(_ box: PlanBox) -> [Int] {
        guard box.meets(bounds) else { return [] }
        let (rows, columns) = covered(by: box)
        var steps = large.count + rows.count * columns.count
        var found = large.filter { boxes[$0].meets(box) }
        for row in rows {
            for column in columns {
                let cell = cells[row * self.columns + column]
                steps += cell.count
                for index in cell where boxes[index].meets(box) { found.append(index) }
            }
        }
        work.spend(steps)
        // A box is in all the cells that it covers.
        found.sort()
        var distinct: [Int] = []
        distinct.reserveCapacity(found.count)
        for index in found where distinct.last != index { distinct.append(index) }
        return distinct
    }

    private func covered(by box: PlanBox) -> (rows: ClosedRange<Int>, columns: ClosedRange<Int>) {
        let rows = cells.count / columns
        func range(_ low: Double, _ high: Double, _ count: Int) -> ClosedRange<Int> {
            let first = min(max(Int(low / edge), 0), count - 1)
            return first...min(max(Int(high / edge), first), count - 1)
        }
        let horizontal = range(box.minX - bounds.minX, box.maxX - bounds.minX, columns)
        return (range(box.minY - bounds.minY, box.maxY - bounds.minY, rows), horizontal)
    }
}
