import IndoorVocabulary
import VenueModel

/// The search for the place of the next beacon on one map.
struct BeaconPlaceSearch {
    private let floor: CoverageFloor
    private let signal: CoverageSignal
    private let receiverVariance: Double
    private let target: Double
    private let candidates: [SignalField.Transmitter]
    /// The detection probability of each candidate in each walkable cell.
    private let detections: [[Float]]
    private var information: [PositionInformation]
    /// The expected 68 % error of each walkable cell in metres.
    private(set) var errors: [Double]
    /// The candidate that reduces the errors most, and the sum over the cells of the reduction in metres; nil without
    /// candidates.
    private(set) var best: (candidate: Int, gain: Double)?

    /// The maximum number of candidates.
    private static let candidateLimit = 600.0

    /// - Parameter beacon: the power and the path-loss exponent of a new beacon.
    init(
        floor: CoverageFloor, information: [PositionInformation], beacon: SignalField.Transmitter,
        signal: CoverageSignal, settings: CoverageSettings
    ) {
        self.floor = floor
        self.signal = signal
        self.information = information
        target = settings.target ?? 0
        let variance = settings.receiverDeviation * settings.receiverDeviation
        receiverVariance = variance
        errors = information.map { floor.error($0, receiverVariance: variance) }
        let candidates = Self.places(on: floor, settings).map { point in
            var candidate = beacon
            candidate.point = point
            return candidate
        }
        self.candidates = candidates
        detections = candidates.map { floor.detections(of: $0, floors: 0, signal: signal) }
        best = bestCandidate()
    }

    private static func places(on floor: CoverageFloor, _ settings: CoverageSettings) -> [MapPoint] {
        let map = floor.map
        let spacing = max(settings.candidateSpacing, (map.width * map.height / candidateLimit).squareRoot(), 0.1)
        let grid = MapGrid(
            from: MapPoint(x: 0, y: 0), to: MapPoint(x: map.width, y: map.height), cellSize: spacing)
        let all = WalkableCells(of: map, floor.interior, grid: grid).cells.map(grid.center)
        guard case .atWalls(let distance) = settings.placement else { return all }
        let atWalls = all.filter { floor.distanceToWall(from: $0) <= distance }
        let hasWalls = floor.distanceToWall(from: MapPoint(x: 0, y: 0)) < .infinity
        return hasWalls ? atWalls : all
    }

    private func bestCandidate() -> (candidate: Int, gain: Double)? {
        candidates.indices.map { (candidate: $0, gain: gain(of: $0)) }.max { $0.gain < $1.gain }
    }

    private func gain(of index: Int) -> Double {
        var gain = 0.0
        for (position, detection) in detections[index].enumerated() where detection > 0 {
            var all = information[position]
            all.add(
                floor.information(at: position, of: candidates[index], signal: signal), share: Double(detection))
            let error = floor.error(all, receiverVariance: receiverVariance)
            gain += max(0, errors[position] - target) - max(0, error - target)
        }
        return gain
    }

    /// Places a beacon at a candidate and returns its point.
    mutating func place(_ index: Int) -> MapPoint {
        for (position, detection) in detections[index].enumerated() where detection > 0 {
            information[position].add(
                floor.information(at: position, of: candidates[index], signal: signal), share: Double(detection))
            errors[position] = floor.error(information[position], receiverVariance: receiverVariance)
        }
        best = bestCandidate()
        return candidates[index].point
    }
}
