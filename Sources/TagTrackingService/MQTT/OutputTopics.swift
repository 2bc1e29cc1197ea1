import TagTracking

/// The topics of a fleet's outputs under a prefix.
package struct OutputTopics: Hashable, Sendable {
    /// The prefix, without a slash at its end.
    package let prefix: String
    /// The name of the fleet or, with several processes, of this one.
    package let instance: String

    /// Creates the topics.
    package init(prefix: String, instance: String) { (self.prefix, self.instance) = (prefix, instance) }

    /// The last level of the topic of the status.
    static let statusLevel = "status"

    /// The first levels of the topics of this process.
    package var process: String { "\(prefix)/fleets/\(instance)" }

    /// Retained: `online` while the process is connected, then `offline`.
    package var status: String { "\(process)/\(Self.statusLevel)" }

    /// Retained: the last position of a tag, as ``FleetOutput/json``.
    package func position(of tag: TagKey) -> String { "\(prefix)/tags/\(tag.escaped)/position" }

    /// Retained: whether the tag is present or away, as ``FleetOutput/json``.
    package func presence(of tag: TagKey) -> String { "\(prefix)/tags/\(tag.escaped)/presence" }

    /// The entries and exits of a tag, as ``FleetOutput/json``.
    package func events(of tag: TagKey) -> String { "\(prefix)/tags/\(tag.escaped)/events" }

    /// Retained: the state of a tag for Home Assistant.
    package func homeAssistant(of tag: TagKey) -> String { "\(prefix)/tags/\(tag.escaped)/homeassistant" }
}
