import IndoorVocabulary
import LocalizationSession
import MQTTSharing
import TagTracking

/// The settings of the outputs of a fleet over a broker.
package struct MQTTOutputSettings: Hashable, Sendable {
    /// The prefix of all topics.
    package var prefix = "indoorloc/v1"
    /// The name of the fleet or, with several processes under one prefix, of this process.
    package var instance = "fleet"
    /// The prefix of Home Assistant's discovery topics, usually `homeassistant`; nil publishes nothing for Home
    /// Assistant.
    package var homeAssistantPrefix: String?
    /// The tags that Home Assistant gets; nil for all.
    package var homeAssistantTags: Set<TagKey>?
    /// The time between two states of a tag for Home Assistant while neither room nor presence changes. Home Assistant
    /// stores each state in its database.
    package var homeAssistantInterval = Duration.seconds(10)
    /// The maximum number of tags whose retained messages are kept for a reconnection. For further tags, the messages of
    /// those that are away for the longest time are removed from the broker; if all are present, the further ones aren't
    /// published.
    package var tagLimit = 200_000
    /// The maximum number of events that wait for the broker; if more wait, the oldest are lost.
    package var eventLimit = 10_000
    /// The maximum number of messages without the broker's confirmation.
    package var window = 100
    /// The time limit for the connection.
    package var patience = Duration.seconds(10)
    /// The longest pause before the first attempt to reconnect. It doubles for each further attempt, up to a minute.
    package var firstPause = Duration.seconds(1)
    /// The silence after which the client pings the broker, in seconds.
    package var keepAliveSeconds: Int32 = 15

    /// Creates the default settings.
    package init() {}

    /// The topics under the prefix.
    package var topics: OutputTopics { OutputTopics(prefix: prefix, instance: instance) }

    /// Checks the names.
    ///
    /// - Throws: `MQTTSharingError.badPrefix` if the prefix or the instance isn't a valid part of a topic.
    package func check() throws(MQTTSharingError) {
        for name in [prefix, instance] + (homeAssistantPrefix.map { [$0] } ?? []) {
            let levels = name.split(separator: "/", omittingEmptySubsequences: false)
            guard levels.allSatisfy({ SharingNameError(of: String($0)) == nil }) else { throw .badPrefix(name) }
        }
        guard !instance.contains("/") else { throw .badPrefix(instance) }
    }
}
