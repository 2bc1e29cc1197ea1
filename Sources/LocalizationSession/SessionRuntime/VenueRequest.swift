import BeaconScanning
import IndoorVocabulary
import VenueModel

/// What is asked of a venue source.
package enum VenueRequest: Hashable, Sendable {
    case catalogue
    case packet(VenueID)
}

/// What a venue source answers.
package enum VenueAnswer: Sendable {
    case catalogue([VenueSummary])
    case catalogueFailed(LocalizationError)
    /// The fraction of a packet that is there.
    case progress(VenueID, Double)
    case packet(VenueID, Venue)
    case packetFailed(VenueID, LocalizationError)
}

extension VenueSource {
    /// Tells the answer to a request; of a packet, before it, which fraction of it is there.
    func answer(_ request: VenueRequest, _ tell: @escaping @Sendable (VenueAnswer) async -> Void) async {
        let answer: VenueAnswer
        switch request {
        case .catalogue:
            do { answer = .catalogue(try await catalogue()) } catch { answer = .catalogueFailed(failure(error)) }
        case .packet(let id):
            do {
                answer = .packet(id, try await packet(for: id, telling: { await tell(.progress(id, $0)) }))
            } catch {
                answer = .packetFailed(id, failure(error))
            }
        }
        await tell(answer)
    }

    /// The packet of a venue; progress is told in order and before it, whatever thread the source reports it on.
    private func packet(
        for id: VenueID, telling tell: @escaping @Sendable (Double) async -> Void
    ) async throws -> Venue {
        let (fractions, teller) = AsyncStream.makeStream(of: Double.self)
        let telling = Task { for await fraction in fractions { await tell(fraction) } }
        let result: Result<Venue, any Error>
        do { result = .success(try await packet(for: id, progress: { teller.yield($0) })) } catch {
            result = .failure(error)
        }
        teller.finish()
        await telling.value
        return try result.get()
    }

    private func failure(_ error: any Error) -> LocalizationError {
        LocalizationError(reporting: error, code: .generic, "a venue request failed")
    }
}

extension CurrentTask {
    /// Asks a venue source, in the place of the request before.
    ///
    /// - Parameter answer: takes an answer and the number of this task, which may have been replaced in the meantime.
    /// - Returns: the task, which is over once the last answer was taken.
    mutating func ask<Shell: Actor>(
        _ venues: any VenueSource, _ request: VenueRequest, for shell: Shell,
        answer: @escaping @Sendable (isolated Shell, VenueAnswer, Int) async -> Void
    ) -> Task<Void, Never> {
        begin { number in
            Task { [weak shell] in
                await venues.answer(request) { [weak shell] told in
                    if let shell { await answer(shell, told, number) }
                }
            }
        }
    }
}
