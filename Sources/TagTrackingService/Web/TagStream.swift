import LiveMap
import TagTracking
import TextFormats

/// The changes of tags as server-sent events for one reader.
///
/// A pass reports each tag that has changed once, with its latest state, and the next pass begins an interval after it,
/// when the reader has received everything. A slow reader gets fewer states of a tag, and never an old one. A reader that has
/// missed discarded notices begins with all states, and the run in its ids differs from then on, as after a restart.
struct TagStream: HTTPStream {
    /// The maximum number of tags in an event.
    static let mostTags = 500
    /// The time after which a stream checks again whether a slow reader has received everything.
    private static let patience = Duration.milliseconds(20)

    let board: TagBoard
    /// The last change that the reader has.
    let start: ChangeID
    /// The tags to report; nil for all.
    let tags: Set<TagKey>?
    /// The time between two states of a tag.
    let interval: Duration

    func write(to writer: HTTPStreamWriter) async {
        var last = start
        while !Task.isCancelled {
            let begin = ContinuousClock.now
            let end = await board.lastChange
            while last.number < end, !Task.isCancelled {
                let changes = await board.changes(after: last.number, upTo: end, limit: Self.mostTags, of: tags)
                if last.hasMissed(changes.discarded) {
                    last = ChangeID()
                    continue
                }
                // While the reader gets its first states, the notices before them may be discarded.
                if last.number == 0 { last.base = changes.discarded == 0 ? 0 : changes.newest }
                last.number = changes.last
                let text = text(of: changes, id: last)
                if !text.isEmpty { writer.write(text, isFrame: false) }
                while !writer.isDrained, !Task.isCancelled { try? await Task.sleep(for: Self.patience) }
            }
            try? await Task.sleep(until: begin + interval)
        }
    }

    /// Returns the changes as events. Only the last event has an id, because a reader that has received it has received
    /// all of them.
    private func text(of changes: TagBoard.Changes, id: ChangeID) -> [UInt8] {
        var events: [(name: String, data: [UInt8])] = []
        if !changes.tags.isEmpty {
            events.append(("tags", JSONWriter.object { TagJSON.write(changes.tags, to: &$0) }))
        }
        for notice in changes.notices {
            switch notice {
            case .event(let output): events.append(("event", output.jsonBytes))
            case .alert(let event): events.append(("alert", event.jsonBytes))
            case .removed(let tag):
                events.append(("removed", JSONWriter.object { $0.add("tag", tag.description) }))
            case .receiver(let status):
                var json = JSONWriter()
                TagJSON.write(status, to: &json)
                events.append(("receiver", json.bytes))
            }
        }
        var text: [UInt8] = []
        for (index, event) in events.enumerated() {
            if index == events.count - 1 {
                text += Array("id: \(id.text(in: board.run))\n".utf8)
            }
            text += Array("event: \(event.name)\ndata: ".utf8)
            // The JSON has no line break, so one line of data is enough.
            text += event.data
            text += Array("\n\n".utf8)
        }
        return text
    }
}
