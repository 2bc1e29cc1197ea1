import Glibc
import IndoorVocabulary
import ScanRecording
import TextFormats
import VenueModel

/// Surveys: people mark on a page where they stand with a tag or with this device, and each walk becomes a recording in a
/// folder.
package actor SurveyDesk {
    /// The reason why a request is refused.
    package enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        case unheard(SurveyCarrier)
        case noWalk(SurveyCarrier)
        case tooManyWalks
        case outsideOfPlan
        case unknownRoom(Int)
        case roomWithoutShape(String)
        case lateMark
        case fullWalk(Int)
        case tooManyMarks(Int)
        case unwritable(RecordingError)

        package var description: String {
            switch self {
            case .unheard(.tag(let tag)): "No receiver has heard the tag '\(tag)' yet. Bring it nearer to a receiver."
            case .unheard(.device): "This device has heard no beacon of the venue yet. Bring it nearer to one."
            case .noWalk(.tag(let tag)): "No walk with the tag '\(tag)' runs."
            case .noWalk(.device): "No walk runs."
            case .tooManyWalks: "There are already \(SurveyDesk.mostWalks) walks."
            case .outsideOfPlan: "The place is outside of the plan."
            case .unknownRoom(let id): "The venue has no room \(id). Load the page again."
            case .roomWithoutShape(let name): "The room '\(name)' has no shape. Mark the place on the plan."
            case .lateMark: "The mark is more than \(SurveyDesk.longestDelay.components.seconds) s old."
            case .fullWalk(let count): "The recording has its \(count) entries. End the walk, and start another one."
            case .tooManyMarks(let count): "The walk has its \(count) marks. End it, and start another one."
            // Everyone in the network can see the page, which needn't have the paths of this machine; the log has them.
            case .unwritable(let error): "The recording can't be written: \(error.withoutFolder)"
            }
        }
    }

    /// A walk.
    package struct Walk: Hashable, Sendable {
        package var carrier: SurveyCarrier
        /// The name of the recording in the folder.
        package var file: String
        package var start: Instant
        package var isRunning: Bool
        package var readings: Int
        /// The number of beacons that were heard, or of receivers that heard the tag.
        package var beacons: Int
        /// The places that were marked, at the times since the start of the walk.
        package var marks: [Truth]
        /// Why the walk can't be recorded at the moment, or has no place for more; nil without a problem.
        package var problem: String?
    }

    /// The limits of a walk.
    package struct Limits: Hashable, Sendable {
        /// The largest number of readings and marks; more than five hours with ten receivers that hear the tag each second.
        package var entries = 200_000
        /// The largest number of marks. Each page that shows the walks requests all of them every two seconds.
        package var marks = 2_000

        /// Creates limits.
        package init() {}
    }

    /// The largest number of walks at the same time, and of finished ones that the desk remembers.
    static let mostWalks = 20
    private static let mostFinished = 500
    private static let mostUnreported = 10
    /// The largest age of a mark that a telephone may state.
    package static let longestDelay = Duration.seconds(30)
    /// The time between two writes: with the time for which entries wait, a kill loses at most two seconds.
    private static let saveInterval = Duration.seconds(1)

    private nonisolated let system: any SurveyedSystem
    /// Whether people carry tags instead of this device.
    package nonisolated let hasTags: Bool
    /// Learns radio maps from the walks; nil for none.
    package nonisolated let maps: SurveyMapDesk?
    private let folder: String
    private let now: @Sendable () -> Instant
    private var walks: [SurveyCarrier: SurveyWalk] = [:]
    private var finished: [Walk] = []
    /// What is carried on walks that can't be written, after the report of it.
    private var reported: Set<SurveyCarrier> = []
    /// Why walks couldn't start, before the report of it; the latest ones.
    private var unreported: [String] = []
    private let limits: Limits
    private let priority: BackgroundThread.Priority

    /// What walks have not reached on a map.
    private struct Coverage {
        var walks: [String: [SurveyRecording.Waypoint]]
        var task: Task<SurveyCoverage, Never>
    }

    /// The latest coverages, each of which takes up to some seconds, and all pages ask for them after each mark.
    private var coverages: [MapID: Coverage] = [:]
    /// What computes a coverage; nil without a computation.
    private var computation: Task<SurveyCoverage, Never>?
    /// The number of computed coverages.
    package private(set) var coverageCount = 0

    /// Creates a desk.
    ///
    /// - Parameters:
    ///   - folder: the folder of the recordings, which exists.
    ///   - maps: learns radio maps from the recordings of the folder; nil for none.
    ///   - priority: the priority of the thread that computes what walks have not reached.
    ///   - now: returns the time, on the clock of the readings.
    package init(
        _ system: any SurveyedSystem, folder: String, limits: Limits = Limits(), maps: SurveyMapDesk? = nil,
        priority: BackgroundThread.Priority = .lowest, now: @escaping @Sendable () -> Instant
    ) {
        (self.system, self.folder, self.limits, self.maps, self.now) = (system, folder, limits, maps, now)
        (self.priority, hasTags) = (priority, system.hasTags)
    }

    /// Returns what a request names by the text of a tag, or by no text; nil for what a person can't carry.
    package nonisolated func carrier(named tag: String?) -> SurveyCarrier? { system.carrier(named: tag) }

    /// Returns what the walks of the folder have not reached on a map; nil for an unknown map.
    ///
    /// One computation runs at a time. Requests with the same marks share it, and those that wait for another one have the
    /// latest marks.
    package func coverage(of mapID: MapID) async -> SurveyCoverage? {
        let venue = system.venue
        guard venue.map(mapID) != nil else { return nil }
        while true {
            let walks = await marks
            if let known = coverages[mapID], known.walks == walks { return await known.task.value }
            guard let running = computation else {
                let task = Task { [priority] in
                    await BackgroundThread.run(at: priority) { _ in
                        SurveyCoverage(of: Array(walks.values), in: venue, on: mapID)
                    }
                }
                (coverages[mapID], computation) = (Coverage(walks: walks, task: task), task)
                coverageCount += 1
                let coverage = await task.value
                if computation == task { computation = nil }
                return coverage
            }
            _ = await running.value
            // The request that has begun it may continue later than this one.
            if computation == running { computation = nil }
        }
    }

    /// The marks of all walks, by the names of the files.
    private var marks: [String: [SurveyRecording.Waypoint]] {
        get async {
            var marks = await maps?.recordedWaypoints ?? [:]
            for walk in status { marks[walk.file] = walk.marks.compactMap(\.waypoint) }
            return marks
        }
    }

    /// The walks, those that run first, and then the latest.
    package var status: [Walk] {
        walks.values.sorted { ($0.carrier.tag ?? "") < ($1.carrier.tag ?? "") }.map { summary($0, true) }
            + finished.reversed()
    }

    /// Adds readings to the walks that run.
    package func add(_ readings: some Sequence<SurveyReading> & Sendable) {
        for reading in readings { walks[reading.carrier]?.add(reading.sighting) }
    }

    /// Starts a walk. A walk that runs with the same carrier ends.
    package func start(with carrier: SurveyCarrier) async throws(Refusal) {
        guard await system.hears(carrier) else { throw .unheard(carrier) }
        // Meanwhile, another page can start one.
        while walks[carrier] != nil { try await stop(with: carrier) }
        guard walks.count < Self.mostWalks else { throw .tooManyWalks }
        let start = now()
        // The time without its milliseconds and its colons.
        let time = CivilTime(start).text.prefix(19).filter { $0 != ":" }
        let stem = "\(folder)/\(time)" + (carrier.tag.map { "-" + Self.fileName(of: $0) } ?? "")
        var (path, count) = (stem + ".jsonl", 1)
        while access(path, F_OK) == 0 {
            count += 1
            path = "\(stem)-\(count).jsonl"
        }
        var walk = SurveyWalk(with: carrier, path: path, start: start, limits: limits)
        do throws(RecordingError) { try walk.save(at: start) } catch {
            unreported = unreported.suffix(Self.mostUnreported - 1) + ["\(error)"]
            throw .unwritable(error)
        }
        walks[carrier] = walk
        await selectCarriers()
    }

    /// Returns the key of a tag for the name of a file.
    package static func fileName(of tag: String) -> String {
        let escaped = EscapedText.escaped(tag, mark: UInt8(ascii: "%"), plain: "-._~:")
        return String(escaped.map { $0 == "%" || $0 == ":" ? "-" : $0 }.prefix(60))
    }

    /// Ends a walk. A walk that can't be written goes on, so that a later attempt loses nothing.
    package func stop(with carrier: SurveyCarrier) async throws(Refusal) {
        guard walks[carrier] != nil else { throw .noWalk(carrier) }
        do throws(RecordingError) { try walks[carrier]?.finish() } catch { throw .unwritable(error) }
        if let walk = walks.removeValue(forKey: carrier) { finished.append(summary(walk, false)) }
        if finished.count > Self.mostFinished { finished.removeFirst() }
        reported.remove(carrier)
        await selectCarriers()
        await maps?.learn()
    }

    /// Selects the carriers whose readings arrive. Calls can overtake each other, so that each looks again after its own.
    private func selectCarriers() async {
        var selected: Set<SurveyCarrier>
        repeat {
            selected = Set(walks.keys)
            await system.report(readingsOf: selected)
        } while selected != Set(walks.keys)
    }

    /// Marks that a carrier is at a place.
    ///
    /// - Parameters:
    ///   - delay: the time since the person was there, by the person's device. Its clock is not used.
    ///   - id: an identifier of the mark, of which repetitions are ignored; nil for none.
    package func mark(
        _ carrier: SurveyCarrier, at point: MapPoint, on mapID: MapID, delay: Duration, id: String? = nil
    ) throws(Refusal) {
        try mark(carrier, at: point, on: mapID, room: nil, delay, id)
    }

    /// Marks that a carrier is in the middle of a room. The parameters are those of a mark at a place.
    package func mark(
        _ carrier: SurveyCarrier, inRoom roomID: Int, delay: Duration, id: String? = nil
    ) throws(Refusal) {
        guard let room = system.venue.rooms.first(where: { $0.id == roomID }) else { throw .unknownRoom(roomID) }
        guard let middle = room.area?.middle else { throw .roomWithoutShape(room.name) }
        try mark(carrier, at: middle, on: room.mapID, room: room.name, delay, id)
    }

    private func mark(
        _ carrier: SurveyCarrier, at point: MapPoint, on mapID: MapID, room: String?, _ delay: Duration, _ id: String?
    ) throws(Refusal) {
        guard walks[carrier] != nil else { throw .noWalk(carrier) }
        guard system.venue.map(mapID)?.contains(point) == true else { throw .outsideOfPlan }
        guard delay <= Self.longestDelay else { throw .lateMark }
        let time = now().advanced(by: .zero - max(.zero, delay))
        try walks[carrier]?.mark(point, on: mapID, room: room, at: time, id: id)
    }

    /// Removes the latest mark of a walk.
    package func undo(with carrier: SurveyCarrier) throws(Refusal) {
        guard walks[carrier] != nil else { throw .noWalk(carrier) }
        walks[carrier]?.undoMark()
    }

    /// Writes the walks once a second until the task is cancelled, and then ends them. Learns from earlier walks first.
    ///
    /// - Parameter report: receives the reason why a recording can't be written.
    package func run(_ report: @Sendable (String) -> Void) async {
        await maps?.begin()
        while (try? await Task.sleep(for: Self.saveInterval)) != nil { save(report) }
        await maps?.stop()
        for carrier in walks.keys {
            do throws(Refusal) { try await stop(with: carrier) } catch {
                if case .unwritable(let error) = error { report("\(error)") }
            }
        }
    }

    /// Writes what is old enough.
    ///
    /// - Parameter report: receives the reason why a recording can't be written, once until it can.
    package func save(_ report: (String) -> Void) {
        unreported.forEach(report)
        unreported = []
        for carrier in walks.keys {
            do throws(RecordingError) {
                try walks[carrier]?.save(at: now())
                reported.remove(carrier)
            } catch {
                if reported.insert(carrier).inserted { report("\(error)") }
            }
        }
    }

    /// Returns what a page shows of a walk.
    private func summary(_ walk: SurveyWalk, _ isRunning: Bool) -> Walk {
        Walk(
            carrier: walk.carrier, file: walk.path.split(separator: "/").last.map(String.init) ?? walk.path,
            start: walk.start,
            isRunning: isRunning, readings: walk.readingCount, beacons: walk.beacons.count,
            marks: walk.marks,
            problem: isRunning
                ? walk.writeError.map { "\(Refusal.unwritable($0))" } ?? walk.reachedLimit?.description : nil)
    }
}

extension RecordingError {
    /// The error with the name of its file instead of the path.
    fileprivate var withoutFolder: RecordingError {
        var error = self
        error.file = file.split(separator: "/").last.map(String.init) ?? file
        return error
    }
}
