import Foundation
import IndoorVocabulary
import LiveMap

/// The content of a server that shows the sample: as a recording, or as a running session whose frames a test emits.
final class SampleContent: LiveMapContent {
    private struct State {
        var updates: [LiveMapUpdate] = []
        var readers: [Int: AsyncStream<LiveMapUpdate>.Continuation] = [:]
        var started = 0
        var marks: [LiveMapFrame.Place] = []
    }

    private let document: LiveMapDocument
    private let isLive: Bool
    private let state = Guarded(State())

    init(isLive: Bool, _ document: LiveMapDocument = SampleSession().document) {
        self.isLive = isLive
        self.document = document
    }

    /// The places that the page has submitted.
    var marks: [LiveMapFrame.Place] { state.withLock { $0.marks } }

    /// Emits the frames of the sample with these numbers.
    func emit(_ numbers: ClosedRange<Int>) {
        for frame in document.frames[numbers] {
            let readers = state.withLock { state in
                state.updates.append(.frame(frame))
                return Array(state.readers.values)
            }
            for reader in readers { reader.yield(.frame(frame)) }
        }
    }

    func overview() async -> LiveMapOverview {
        guard isLive else { return document.overview }
        let venues = document.overview.venues
        return LiveMapOverview(mode: .live, title: "Sample session", acceptsMarks: true, venues: venues)
    }

    func plan(venue: Int, map: Int) async -> LiveMapImage? { nil }

    func tile(venue: Int, map: Int, level: Int, column: Int, row: Int) async -> LiveMapImage? { nil }

    private var frames: [LiveMapFrame] {
        guard isLive else { return document.frames }
        return state.withLock { $0.updates }.compactMap { if case .frame(let frame) = $0 { frame } else { nil } }
    }

    func frames(from start: Double, to end: Double, limit: Int) async -> [LiveMapFrame] {
        Array(frames.filter { $0.t >= start && $0.t <= end }.prefix(limit))
    }

    func events() async -> [LiveMapEvent] { isLive ? [] : document.events }

    func radioMap() async -> LiveMapRadioMap? { nil }

    func updates(after id: Int?) async -> AsyncStream<LiveMapUpdate> {
        let (stream, continuation) = AsyncStream<LiveMapUpdate>.makeStream()
        state.withLock { state in
            state.started += 1
            let number = state.started
            state.readers[number] = continuation
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { _ = $0.readers.removeValue(forKey: number) }
            }
            let missed = state.updates.filter { update in
                if case .frame(let frame) = update, let id { frame.id > id } else { true }
            }
            for update in id == nil ? missed.suffix(1) : missed[...] { continuation.yield(update) }
        }
        return stream
    }

    func mark(_ place: LiveMapFrame.Place) async -> String? {
        state.withLock { $0.marks.append(place) }
        return nil
    }
}
