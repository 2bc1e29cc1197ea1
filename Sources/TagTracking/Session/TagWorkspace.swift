import IndoorPositioning
import LocalizationSession

/// The memory that sessions need during an update. One workspace serves all tags in turn.
package struct TagWorkspace: Sendable {
    /// The memory for the tags of one class. Engines with other numbers of particles don't share memory, because an
    /// engine takes over a part of it.
    struct Part: Sendable {
        fileprivate let model: TagModel
        var memory = ParticleFilter.Workspace()
        var builder: PositionBuilder
    }

    var parts: [Part] = []

    /// Creates a workspace without memory.
    package init() {}

    /// Returns the index of a model's part, and creates the part if it is missing.
    mutating func index(of model: TagModel) -> Int {
        if let index = parts.firstIndex(where: { $0.model === model }) { return index }
        parts.append(Part(model: model, builder: PositionBuilder(venue: model.venue)))
        return parts.count - 1
    }

    /// The bytes of the memory, without the rooms of the cells.
    package var byteCount: Int { parts.reduce(0) { $0 + $1.memory.byteCount } }
}
