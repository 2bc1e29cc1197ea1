import IndoorVocabulary
import VenueModel

/// The accuracy that a venue's beacons allow, and proposals for more beacons.
///
/// The expected error of a cell is the Cramér–Rao bound of one position from the RSSI of the beacons that the receiver
/// detects there, with the session's own signal model: path loss, shadowing, floors, and the unknown offset of the
/// receiver. Walls attenuate the signal and so reduce the probability of a detection. Where the readings don't locate the
/// receiver, the walkable area limits the error. A session that tracks a walk combines successive readings and can be more
/// accurate; unmapped walls and reflections make it less accurate.
///
/// Sources: N. Patwari et al., *Relative Location Estimation in Wireless Sensor Networks*, IEEE Transactions on Signal
/// Processing 51(8), 2003; Y. Qi, H. Kobayashi, *On Geolocation Accuracy with Prior Information in Non-line-of-sight
/// Environment*, IEEE Vehicular Technology Conference, 2002.
public struct CoverageAnalysis: Sendable {
    private let settings: CoverageSettings
    private let transmitters: [SignalField.Transmitter]
    private let signal: CoverageSignal
    private let floorDistance: FloorDistance
    private let floors: [CoverageFloor]
    /// The sum of the readings' information in each walkable cell, by map.
    private let information: [[PositionInformation]]
    /// The expected number of detected beacons in each walkable cell, by map.
    private let detected: [[Double]]

    /// Analyses the beacons of a venue, with its radio map if it has one. The time is proportional to the number of cells,
    /// beacons and walls.
    public init(venue: Venue, settings: CoverageSettings = CoverageSettings()) {
        self.init(venue: venue, settings: settings) { () throws(Never) in }
    }

    /// Analyses the beacons of a venue, unless the caller stops it.
    ///
    /// - Parameter check: throws to stop the analysis; called for each beacon on each map.
    package init<Stop: Error>(venue: Venue, settings: CoverageSettings, check: () throws(Stop) -> Void) throws(Stop) {
        self.settings = settings
        let field = SignalField(venue: venue, model: settings.signal)
        let signal = CoverageSignal(venue: venue, field: field, settings: settings)
        self.signal = signal
        transmitters = field.transmitters
        let floorDistance = FloorDistance(venue.maps)
        self.floorDistance = floorDistance
        floors = venue.maps.map { CoverageFloor($0, of: venue, cellSize: settings.cellSize) }
        var information: [[PositionInformation]] = []
        var detected: [[Double]] = []
        for floor in floors {
            var sums = Array(repeating: PositionInformation(), count: floor.cells.count)
            var counts = Array(repeating: 0.0, count: floor.cells.count)
            for beacon in transmitters {
                try check()
                let between = floorDistance.floors(from: beacon.mapID, to: floor.map.id)
                let detections = floor.detections(of: beacon, floors: between, signal: signal)
                for (position, detection) in detections.enumerated() where detection > 0 {
                    let reading = floor.information(at: position, of: beacon, signal: signal)
                    sums[position].add(reading, share: Double(detection))
                    counts[position] += Double(detection)
                }
            }
            information.append(sums)
            detected.append(counts)
        }
        (self.information, self.detected) = (information, detected)
    }

    private var receiverVariance: Double { settings.receiverDeviation * settings.receiverDeviation }

    /// Returns the expected errors on a map; nil for an unknown map.
    public func expectedErrors(on mapID: MapID) -> CoverageGrid? {
        guard let index = floors.firstIndex(where: { $0.map.id == mapID }) else { return nil }
        let floor = floors[index]
        var grid = CoverageGrid(
            mapID: mapID, cellSize: floor.grid.cellSize, columns: floor.grid.columns, rows: floor.grid.rows,
            errors: Array(repeating: nil, count: floor.grid.count),
            detectedBeacons: Array(repeating: 0, count: floor.grid.count))
        for (position, cell) in floor.cells.enumerated() {
            grid.errors[cell] = floor.error(information[index][position], receiverVariance: receiverVariance)
            grid.detectedBeacons[cell] = detected[index][position]
        }
        return grid
    }

    /// Returns places for more beacons, each of which reduces the expected error most, given the places before it.
    ///
    /// A greedy sequence isn't always the best set. For a gain with diminishing returns, it reaches at least 63 % of the
    /// best set's gain: G. L. Nemhauser, L. A. Wolsey, M. L. Fisher, *An Analysis of Approximations for Maximizing Submodular
    /// Set Functions*, Mathematical Programming 14, 1978. A new beacon has the mean power and exponent of the venue's
    /// beacons, and is assumed to be surveyed if they are.
    /// - Parameters:
    ///   - count: the maximum number of places; there are fewer if no further beacon reduces the error.
    ///   - mapID: the map to improve; nil for all maps.
    public func proposedBeacons(count: Int, on mapID: MapID? = nil) -> [ProposedBeacon] {
        proposedBeacons(count: count, on: mapID) { () throws(Never) in }
    }

    /// Returns places for more beacons, unless the caller stops the search.
    ///
    /// - Parameter check: throws to stop the search; called for each candidate.
    package func proposedBeacons<Stop: Error>(
        count: Int, on mapID: MapID? = nil, check: () throws(Stop) -> Void
    ) throws(Stop) -> [ProposedBeacon] {
        guard count > 0 else { return [] }
        let chosen = floors.indices.filter { mapID == nil || floors[$0].map.id == mapID }
        var searches: [BeaconPlaceSearch] = []
        for index in chosen { searches.append(try search(on: index, check: check)) }
        var proposals: [ProposedBeacon] = []
        while proposals.count < count {
            let gains = searches.indices.compactMap { index in
                searches[index].best.map { (search: index, candidate: $0.candidate, gain: $0.gain) }
            }
            guard let best = gains.max(by: { $0.gain < $1.gain }), best.gain > 1e-6 else { break }
            let point = try searches[best.search].place(best.candidate, check: check)
            let cells = searches.reduce(0) { $0 + $1.errors.count }
            let errors = searches.flatMap(\.errors)
            let within = settings.target.map { target in Double(errors.count { $0 <= target }) / Double(cells) }
            proposals.append(
                ProposedBeacon(
                    mapID: floors[chosen[best.search]].map.id, point: point,
                    meanError: errors.reduce(0, +) / Double(max(1, cells)), shareWithinTarget: within))
        }
        return proposals
    }

    private func search<Stop: Error>(
        on index: Int, check: () throws(Stop) -> Void
    ) throws(Stop) -> BeaconPlaceSearch {
        let count = Double(max(1, transmitters.count))
        let isEmpty = transmitters.isEmpty
        let model = settings.signal
        let power = isEmpty ? model.defaultPower : transmitters.reduce(0) { $0 + $1.power } / count
        let exponent = isEmpty ? model.pathLossExponent : transmitters.reduce(0) { $0 + $1.exponent } / count
        return try BeaconPlaceSearch(
            floor: floors[index], information: information[index],
            beacon: SignalField.Transmitter(
                mapID: floors[index].map.id, point: MapPoint(x: 0, y: 0), power: power, exponent: exponent),
            signal: signal, settings: settings, check: check)
    }
}

/// The settings of a coverage analysis.
public struct CoverageSettings: Hashable, Sendable {
    /// The places that a proposed beacon may have.
    public enum Placement: Hashable, Sendable {
        /// All walkable places.
        case anywhere
        /// Walkable places within a distance in metres of a wall. A map without walls uses all walkable places.
        case atWalls(within: Double)
    }

    /// The parameters of the signal. A venue's survey replaces those that it determines.
    public var signal = SignalModel()
    /// The edge of a cell in metres, above 0; larger on maps that would have more than 6,000 cells.
    public var cellSize = 1.0
    /// The scanning time in seconds that contributes to one position, above 0.
    public var duration = 4.0
    /// The advertising interval of the beacons in seconds, above 0; used for venues without a survey.
    public var advertisingInterval = 0.3
    /// The signal loss through one wall in dB, 0 or more. The default is the loss of a light wall: COST Action 231,
    /// *Digital Mobile Radio Towards Future Generation Systems*, final report, 1999, section 4.7.
    public var wallLoss = 3.4
    /// The standard deviation in dB, 0 or more, of the error of the receiver's offset after the session has estimated
    /// it.
    public var receiverDeviation = 2.0
    /// The 68 % error in metres that positions should have; nil to reduce the mean error. Proposed beacons reduce the mean
    /// excess over the target.
    public var target: Double?
    /// The places that proposed beacons may have.
    public var placement = Placement.anywhere
    /// The distance in metres between the candidate places of a proposed beacon, above 0; larger on maps with more than
    /// 600 such places.
    package var candidateSpacing = 2.0

    /// Creates the default settings.
    public init() {}
}

/// The expected accuracy of positions in the cells of a map.
public struct CoverageGrid: Hashable, Sendable {
    /// The map.
    public var mapID: MapID
    /// The edge of a cell in metres.
    public var cellSize: Double
    /// The number of cells along x, from the plan's left edge.
    package var columns: Int
    /// The number of cells along y, from the plan's top edge.
    package var rows: Int
    /// The expected 68 % error in metres, cell by cell along x; nil outside the walkable areas.
    public var errors: [Double?]
    /// The expected number of detected beacons of each cell; 0 outside the walkable areas.
    package var detectedBeacons: [Double]

    /// The mean of the expected errors in metres; nil without walkable cells.
    public var meanError: Double? {
        let known = errors.compactMap { $0 }
        return known.isEmpty ? nil : known.reduce(0, +) / Double(known.count)
    }

    /// Returns the share of the walkable area with an expected error of at most `target` metres, in [0, 1]; nil without
    /// walkable cells.
    public func share(within target: Double) -> Double? {
        let known = errors.compactMap { $0 }
        return known.isEmpty ? nil : Double(known.count { $0 <= target }) / Double(known.count)
    }

    /// Returns the expected 68 % error at a point in metres; nil outside the walkable areas.
    public func error(at point: MapPoint) -> Double? {
        let (column, row) = ((point.x / cellSize).rounded(.down), (point.y / cellSize).rounded(.down))
        guard column >= 0, row >= 0, column < Double(columns), row < Double(rows) else { return nil }
        return errors[Int(row) * columns + Int(column)]
    }
}

/// A proposed place for a beacon.
public struct ProposedBeacon: Hashable, Sendable {
    /// The map.
    public var mapID: MapID
    /// The point on the map.
    public var point: MapPoint
    /// The mean expected 68 % error in metres of all analysed maps, with this beacon and the ones before it.
    public var meanError: Double
    /// The share of the walkable area of all analysed maps within the target, with this beacon and the ones before it;
    /// nil without a target.
    public var shareWithinTarget: Double?
}

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

    /// The least distance in metres of a candidate from a wall.
    private static let wallDistance = 0.2

    /// - Parameters:
    ///   - beacon: the power and the path-loss exponent of a new beacon.
    ///   - check: throws to stop the search.
    init<Stop: Error>(
        floor: CoverageFloor, information: [PositionInformation], beacon: SignalField.Transmitter,
        signal: CoverageSignal, settings: CoverageSettings, check: () throws(Stop) -> Void
    ) throws(Stop) {
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
        var detections: [[Float]] = []
        for candidate in candidates {
            try check()
            detections.append(floor.detections(of: candidate, floors: 0, signal: signal))
        }
        self.detections = detections
        best = try bestCandidate(check: check)
    }

    private static func places(on floor: CoverageFloor, _ settings: CoverageSettings) -> [MapPoint] {
        let map = floor.map
        let spacing = max(settings.candidateSpacing, (map.width * map.height / candidateLimit).squareRoot(), 0.1)
        let grid = MapGrid(
            from: MapPoint(x: 0, y: 0), to: MapPoint(x: map.width, y: map.height), cellSize: spacing)
        let all = WalkableCells(of: map, floor.interior, grid: grid).cells.compactMap {
            place(in: $0, of: grid, on: floor)
        }
        guard case .atWalls(let distance) = settings.placement else { return all }
        let atWalls = all.filter { floor.distanceToWall(from: $0) <= distance }
        let hasWalls = floor.distanceToWall(from: MapPoint(x: 0, y: 0)) < .infinity
        return hasWalls ? atWalls : all
    }

    /// Returns the place of a cell where a beacon can be: the middle, unless it is outside of the building or in a wall;
    /// then the nearest tested point that isn't. Nil without such a point.
    private static func place(in cell: Int, of grid: MapGrid, on floor: CoverageFloor) -> MapPoint? {
        let center = grid.center(of: cell)
        func isFree(_ point: MapPoint) -> Bool {
            floor.map.contains(point) && floor.interior.contains(point)
                && floor.distanceToWall(from: point) >= wallDistance
        }
        if isFree(center) { return center }
        let steps = [-0.375, -0.125, 0.125, 0.375].map { $0 * grid.cellSize }
        return steps.flatMap { x in steps.map { y in center + MapPoint(x: x, y: y) } }.filter(isFree)
            .min { $0.distance(to: center) < $1.distance(to: center) }
    }

    private func bestCandidate<Stop: Error>(
        check: () throws(Stop) -> Void
    ) throws(Stop) -> (candidate: Int, gain: Double)? {
        var best: (candidate: Int, gain: Double)?
        for candidate in candidates.indices {
            try check()
            let gain = gain(of: candidate)
            if gain > best?.gain ?? -.infinity { best = (candidate, gain) }
        }
        return best
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
    mutating func place<Stop: Error>(_ index: Int, check: () throws(Stop) -> Void) throws(Stop) -> MapPoint {
        for (position, detection) in detections[index].enumerated() where detection > 0 {
            information[position].add(
                floor.information(at: position, of: candidates[index], signal: signal), share: Double(detection))
            errors[position] = floor.error(information[position], receiverVariance: receiverVariance)
        }
        best = try bestCandidate(check: check)
        return candidates[index].point
    }
}
