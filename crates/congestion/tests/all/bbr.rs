//! BBR over an emulated path in virtual time.

use eyelevel_simnet::bulk::Scenario;
use eyelevel_units::Instant;

#[test]
fn fills_the_link_with_a_short_queue() {
    for (rate_bit_s, rtt_ms) in [(10_000_000, 40.0), (1_890_000, 760.0), (100_000_000, 20.0)] {
        let run = Scenario::new("bbr", rate_bit_s, rtt_ms, 200.0).run(30.0);
        println!("{rate_bit_s} bit/s, {rtt_ms} ms: {run:?}");
        assert!(run.utilisation > 0.85, "{run:?}");
        assert!(run.queue_delay_ms_p50 < 0.5 * rtt_ms, "{run:?}");
    }
}

#[test]
fn keeps_most_of_the_link_at_random_loss() {
    for loss in [0.001, 0.005, 0.01, 0.02, 0.06] {
        for seed in 1..=3 {
            let mut scenario = Scenario::new("bbr", 10_000_000, 40.0, 100.0);
            scenario.settings.seed = seed;
            scenario.loss = loss;
            scenario.seed = seed;
            let run = scenario.run(30.0);
            println!(
                "loss {loss} seed {seed}: {:.2} Mbit/s",
                run.goodput_bit_s / 1e6
            );
            assert!(run.goodput_bit_s >= 7e6, "{loss} {seed}: {run:?}");
        }
    }
}

#[test]
fn goes_through_its_states() {
    let mut network = Scenario::new("bbr", 10_000_000, 40.0, 200.0).network();
    network.run_until(Instant::from_nanos(25_000_000_000));
    let states = network.client.states();
    for (at, state) in states {
        println!("{at} {state}");
    }
    let names: Vec<_> = states.iter().map(|(_, state)| *state).collect();
    let bandwidth = "probe bandwidth";
    assert_eq!(
        names[..5],
        ["startup", "drain", bandwidth, "probe rtt", bandwidth]
    );
    // Startup finds the rate in a handful of rounds; the round trip is probed every ten seconds.
    assert!(states[1].0 < Instant::from_nanos(600_000_000));
    let probe = states[4].0.since(states[3].0).as_secs_f64();
    assert!((0.2..0.4).contains(&probe), "{probe}");
    let rate = network
        .client
        .flow()
        .controller()
        .bandwidth_bytes_s()
        .unwrap()
        * 8;
    // The payload capacity of the link, within 3 %.
    let payload = 10_000_000 * 1252 / 1280;
    assert!(rate.abs_diff(payload) < payload * 3 / 100, "{rate}");
}

#[test]
fn the_phase_of_the_cycle_comes_from_the_seed() {
    let sends = |seed| {
        let mut scenario = Scenario::new("bbr", 10_000_000, 40.0, 200.0);
        scenario.settings.seed = seed;
        let mut network = scenario.network();
        network.run_until(Instant::from_nanos(3_000_000_000));
        network.client.sends().to_vec()
    };
    assert_eq!(sends(1), sends(1));
    assert!((2..8).any(|seed| sends(seed) != sends(1)));
}
