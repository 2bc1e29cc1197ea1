import IndoorLocalization

/// Areas of every kind that a packet may hold, and some that it may not, made from a seed.
struct RandomAreas {
    var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func number(_ range: ClosedRange<Double>) -> Double {
        range.lowerBound + (range.upperBound - range.lowerBound) * generator.uniform()
    }

    /// Small and huge, round and cornered, some on the edges of whole metres, some without a point inside.
    mutating func area(within side: Double) -> Area {
        let center = MapPoint(x: number(0...side), y: number(0...side))
        switch Int.random(in: 0..<20, using: &generator) {
        case 0: return .circle(center: center, radius: 0)
        case 1: return .circle(center: center, radius: side * 3)
        case 2: return .circle(center: center, radius: -1)
        case 3: return .polygon([])
        case 4: return .polygon([center])
        case 5: return .polygon([center, MapPoint(x: 0, y: 0)])
        case 6: return .polygon([center, center + MapPoint(x: 5, y: 5), center + MapPoint(x: 9, y: 9)])
        case 7: return polygon(around: center, corners: 3...40, radius: side)
        case 8: return .circle(center: MapPoint(x: 1e6, y: -1e6), radius: 10)
        case 9: return .polygon([MapPoint(x: .nan, y: 0), center, MapPoint(x: 0, y: 3)])
        case 10: return .circle(center: center, radius: .infinity)
        case 11...14: return square(at: MapPoint(x: center.x.rounded(), y: center.y.rounded()), side: 5)
        case 15...17: return polygon(around: center, corners: 3...12, radius: 8)
        default: return .circle(center: center, radius: number(0.5...8))
        }
    }

    private func square(at corner: MapPoint, side: Double) -> Area {
        .polygon([(0.0, 0.0), (side, 0), (side, side), (0, side)].map { corner + MapPoint(x: $0.0, y: $0.1) })
    }

    /// Corners anywhere: most of these cross themselves.
    private mutating func polygon(around center: MapPoint, corners: ClosedRange<Int>, radius: Double) -> Area {
        .polygon(
            (0..<Int.random(in: corners, using: &generator)).map { _ in
                center + MapPoint(x: number(-radius...radius), y: number(-radius...radius))
            })
    }

    /// Points on the plan and beyond it, many of them on whole metres, where edges and corners are.
    mutating func point(within side: Double) -> MapPoint {
        let point = MapPoint(x: number(-0.2 * side...1.2 * side), y: number(-0.2 * side...1.2 * side))
        return generator.uniform() < 0.3 ? MapPoint(x: point.x.rounded(), y: point.y.rounded()) : point
    }
}
