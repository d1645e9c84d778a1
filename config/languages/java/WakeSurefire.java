// SPDX-License-Identifier: Apache-2.0
import java.lang.instrument.Instrumentation;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicReference;

/**
 * An agent of Maven's own process. Debian's surefire 2.22 notices the end of its forked process only at its next ping, every ten seconds.
 * This agent makes it send the ping, which has no other effect, as soon as the process has ended.
 */
public class WakeSurefire {
    private static final int INTERVAL_MS = 100;

    public static void premain(String arguments, Instrumentation none) {
        Thread thread = new Thread(WakeSurefire::watch, "agentforge-wake");
        thread.setDaemon(true);
        thread.start();
    }

    private static void watch() {
        try {
            while (true) {
                Thread.sleep(INTERVAL_MS);
                if (ProcessHandle.current().children().findAny().isPresent()) {
                    continue;
                }
                for (Thread thread : Thread.getAllStackTraces().keySet()) {
                    if (thread.getClass().getName().endsWith(".cli.StreamFeeder")) {
                        ping(thread);
                    }
                }
            }
        } catch (InterruptedException | ReflectiveOperationException | RuntimeException other) {
            // Another version of surefire, which needs no ping.
        }
    }

    private static void ping(Thread feeder) throws ReflectiveOperationException {
        Field input = feeder.getClass().getDeclaredField("input");
        input.setAccessible(true);
        Object stream = ((AtomicReference<?>) input.get(feeder)).get();
        if (stream != null) {
            Method noop = stream.getClass().getMethod("noop");
            noop.invoke(stream);
        }
    }
}
